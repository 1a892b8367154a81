#include "interp/session/expressions/live_conditions.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/code/integer_list.h"
#include "interp/core/loop_paths.h"
#include "interp/session/commands/places.h"
#include "interp/session/expressions/watch_expr.h"
#include "interp/session/values/live_values.h"

namespace hostir::interp {
namespace {

// Where an expression is evaluated.
struct At {
  const Interpreter& interpreter;
  Rank rank;
  CodeIndex code;

  const CodeInstruction& instruction() const { return interpreter.code().instructions[code]; }
};

using FieldValue = ExpressionValue (*)(const At&);

ExpressionValue text_of(std::string_view text) { return std::string(text); }

// The sequence number that the instruction has or will get: one after those already issued.
int64_t next_sequence(const At& at) {
  int64_t next = 0;
  for (const MeetingView& m : at.interpreter.ledger()) {
    if (m.comm != at.instruction().comm || m.point_to_point) continue;
    for (const auto& [rank, arrival] : m.members) {
      if (rank == at.rank && arrival->arrived)
        next = std::max(next, static_cast<int64_t>(m.sequence) + 1);
    }
  }
  return next;
}

int64_t operand_bytes(const At& at) {
  int64_t bytes = 0;
  for (const LayoutIndex layout : at.instruction().layouts) {
    if (layout == kNoLayout || !at.interpreter.code().layouts[layout].is_static()) continue;
    const auto& placements = at.interpreter.code().layouts[layout].by_rank;
    bytes = std::max(bytes, placements[static_cast<size_t>(at.rank)].local_bytes());
  }
  return bytes;
}

std::string communicator_name(const At& at) {
  const CommIndex comm = at.instruction().comm;
  return comm == kNoComm ? "" : at.interpreter.code().communicators[comm].name;
}

std::string stream_name(const At& at) {
  const StreamIndex stream = at.instruction().stream;
  return stream == kNoStream ? "" : at.interpreter.code().streams[stream];
}

std::string kernel_name(const At& at) {
  const auto* kernel = at.interpreter.code().source(at.code).attributes.get<Symbol>("kernel");
  return kernel ? kernel->name : "";
}

int64_t iteration(const At& at) {
  const LoopPathId path = at.interpreter.rank(at.rank).loop_path;
  return path == 0 ? -1 : at.interpreter.loop_paths().entry(path).iteration;
}

struct Field {
  Environment::Field declared;
  FieldValue value;
};
constexpr NameType kNumber{NameType::Values::kNumbers, false};
constexpr NameType kCount{NameType::Values::kNumbers, true};  // the same on all ranks at a place
constexpr NameType kText{NameType::Values::kTexts, true};
constexpr auto kFields = std::to_array<Field>({
    {{"rank", kNumber}, [](const At& a) -> ExpressionValue { return int64_t{a.rank}; }},
    {{"op", kText}, [](const At& a) { return text_of(record(a.instruction().kind).mnemonic); }},
    {{"function", kText},
     [](const At& a) {
       return text_of(a.interpreter.code().functions[a.instruction().function]->name);
     }},
    {{"address", kText}, [](const At& a) { return text_of(a.interpreter.code().address(a.code)); }},
    {{"comm", kText}, [](const At& a) { return text_of(communicator_name(a)); }},
    {{"seq", kNumber}, [](const At& a) -> ExpressionValue { return next_sequence(a); }},
    {{"bytes", kNumber}, [](const At& a) -> ExpressionValue { return operand_bytes(a); }},
    {{"stream", kText}, [](const At& a) { return text_of(stream_name(a)); }},
    {{"kernel", kText}, [](const At& a) { return text_of(kernel_name(a)); }},
    {{"iteration", kCount}, [](const At& a) -> ExpressionValue { return iteration(a); }},
    {{"position", kNumber},
     [](const At& a) -> ExpressionValue { return static_cast<int64_t>(a.interpreter.position()); }},
    {{"steps", kNumber},
     [](const At& a) -> ExpressionValue {
       return static_cast<int64_t>(a.interpreter.rank(a.rank).steps);
     }},
    {{"time", kNumber},
     [](const At& a) -> ExpressionValue { return a.interpreter.rank(a.rank).clock_ns; }},
    {{"memory", kNumber},
     [](const At& a) -> ExpressionValue { return a.interpreter.live_bytes(a.rank); }},
    {{"peak", kNumber},
     [](const At& a) -> ExpressionValue { return a.interpreter.peak_bytes(a.rank); }},
});
tl::unexpected<Error> unknown(std::string message) {
  return fail(ErrorKind::kUsage, "condition", std::move(message));
}

Expected<ExpressionValue> field_value(const std::string& name, const At& at) {
  for (const Field& f : kFields) {
    if (f.declared.name == name) return f.value(at);
  }
  return ExpressionValue(name);  // a bare word is a string: op == all_reduce
}

Expected<ExpressionValue> coordinate(const std::string& axis, const At& at) {
  const Mesh& mesh = *at.interpreter.code().world;
  const auto index = mesh.axis_index(axis);
  const auto position = mesh.position_of(at.rank);
  if (!index || !position) return unknown(fmt::format("no axis \"{}\"", axis));
  return ExpressionValue(mesh.coord(*position, *index));
}

// The number of other ranks that hold the same part of a value with different bits. Addends are not
// copies.
Expected<ExpressionValue> differing_copies(const std::string& name, const At& at) {
  ValueQuery query;
  query.value = name;
  query.rank = at.rank;
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading own, read_value(at.interpreter, query));
  const Sharding* sharding = sharding_of(own.type);
  int64_t differ = 0;
  if (own.undefined || (sharding && sharding->is_partial())) return ExpressionValue(differ);
  for (query.rank = 0; query.rank < at.interpreter.code().rank_count; ++query.rank) {
    if (query.rank == at.rank) continue;
    const auto other = read_value(at.interpreter, query);
    const bool copy = other && !other->undefined && other->box == own.box;
    if (copy && other->tensor.data != own.tensor.data) ++differ;
  }
  return ExpressionValue(differ);
}

// What the rank holds of a slice of a value.
Expected<ValueReading> read_part(const std::string& name, const std::vector<SliceRange>& slice,
                                 const Expression& leaf, const At& at) {
  ValueQuery query;
  query.value = name;
  query.rank = at.rank;
  const Expression& value = leaf.kind == Expression::Kind::kCall ? leaf.args[0] : leaf;
  if (value.kind == Expression::Kind::kElement) {
    const auto list = static_cast<int64_t>(find_integers(at.interpreter, at.rank, name).size());
    Extents global = {list};
    Box own = Box::whole(global);
    if (list == 0) {
      HOSTIR_ASSIGN_OR_RETURN(const BufferRef buffer, find_buffer(at.interpreter, at.rank, name));
      global = buffer.placement->global;
      own = buffer.placement->box;
    }
    const auto box = slice_box(slice, global);
    if (box) query.box = box->intersect(own);
    if (!box || query.box->empty())
      return unknown(
          fmt::format("rank {} does not hold {}", at.rank, "%" + name + to_string(slice)));
  }
  HOSTIR_ASSIGN_OR_RETURN(ValueReading reading, read_value(at.interpreter, query));
  // A value that was never written has no number.
  if (reading.undefined)
    return unknown(fmt::format("%{} is not written on rank {} yet", name, at.rank));
  return reading;
}

Expected<ExpressionValue> call_value(const Expression& call, const std::vector<SliceRange>& slice,
                                     const At& at) {
  const std::string& name = call.args[0].text;
  if (call.text == "coord") return coordinate(name, at);
  if (call.text == "differs") return differing_copies(name, at);
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading reading, read_part(name, slice, call, at));
  return *statistic(call.text, reading.tensor);
}

Expected<ExpressionValue> element_value(const Expression& leaf,
                                        const std::vector<SliceRange>& slice, const At& at) {
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading reading, read_part(leaf.text, slice, leaf, at));
  return element_number(reading.tensor);
}

bool has_slice(const Expression& element) {
  return std::any_of(element.args.begin(), element.args.end(),
                     [](const Expression& e) { return e.kind == Expression::Kind::kSlice; });
}

// True for host integers and loop variables.
bool is_number(const std::string& name, const Code& code) {
  const std::vector<uint32_t> all = find_registers(code, name);
  return std::any_of(all.begin(), all.end(), [&](uint32_t reg) {
    const RegisterInfo& info = code.registers[reg];
    return std::holds_alternative<IndexType>(code.functions[info.function]->value(info.value).type);
  });
}

bool is_loop_variable(const std::string& name, const Code& code) {
  return std::any_of(code.instructions.begin(), code.instructions.end(),
                     [&](const CodeInstruction& c) {
                       return c.index_register != kNoRegister &&
                              code.register_name(c.index_register) == "%" + name;
                     });
}

Expected<NameType> type_of_call(const Expression& call, const Code& code) {
  const Expression& argument = call.args[0];
  if (call.text == "coord") {
    if (code.world->axis_index(argument.text)) return kNumber;
    return unknown(fmt::format("mesh @{} has no axis \"{}\"", code.world->name, argument.text));
  }
  // `sum` is a function of watches only.
  const bool known = call.text != "sum" && is_statistic(call.text);
  if (!known && call.text != "differs")
    return unknown(
        fmt::format("unknown function \"{}\"; the functions are coord nan inf min max mean differs",
                    call.text));
  if (find_registers(code, argument.text).empty())
    return unknown(fmt::format("@{} has no value %{}", code.entry, argument.text));
  if (call.text == "differs" && argument.kind != Expression::Kind::kName)
    return unknown(fmt::format("differs compares whole values: differs(%{})", argument.text));
  return kNumber;
}

Expected<NameType> type_of_value(const Expression& e, const Code& code) {
  if (e.kind == Expression::Kind::kCall) return type_of_call(e, code);
  if (find_registers(code, e.text).empty())
    return unknown(fmt::format("@{} has no value %{}", code.entry, e.text));
  const bool element = e.kind == Expression::Kind::kElement && !has_slice(e);
  if (!element && list_size(code, find_registers(code, e.text)[0]) > 1)
    return unknown(fmt::format(
        "%{0} is a list: name one of its integers, %{0}[1], or reduce it: min(%{0}), max(%{0})",
        e.text));
  if (!element && !is_number(e.text, code))
    return unknown(fmt::format(
        "%{0} is a tensor: name an element, %{0}[0, 1], or reduce it: nan(%{0}), max(%{0}), ...",
        e.text));
  return is_loop_variable(e.text, code) ? kCount : kNumber;
}

}  // namespace

ExpressionLookup rank_lookup(const Interpreter& interpreter, Rank rank, CodeIndex code) {
  return [&interpreter, rank, code](
             const Expression& leaf,
             const std::vector<SliceRange>& slice) -> Expected<ExpressionValue> {
    const At at{interpreter, rank, code};
    switch (leaf.kind) {
      case Expression::Kind::kField:
        return field_value(leaf.text, at);
      case Expression::Kind::kCall:
        return call_value(leaf, slice, at);
      case Expression::Kind::kElement:
        return element_value(leaf, slice, at);
      default:
        break;
    }
    const std::vector<int64_t> integers = find_integers(interpreter, rank, leaf.text);
    if (integers.size() == 1) return ExpressionValue(integers[0]);
    return unknown(fmt::format("%{} has no value on rank {} here", leaf.text, rank));
  };
}

Expected<NameType> check_condition(const Expression& condition, const Code& code) {
  static const auto kDeclared = [] {
    std::vector<Environment::Field> out;
    for (const Field& f : kFields) out.push_back(f.declared);
    return out;
  }();
  return check(condition,
               {kDeclared, [&code](const Expression& e) { return type_of_value(e, code); }});
}

}  // namespace hostir::interp
