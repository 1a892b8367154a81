#include "interp/session/live_conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hostir/ops/record.h"
#include "interp/core/loop_paths.h"
#include "interp/session/assemble.h"
#include "interp/session/live_values.h"
#include "interp/session/places.h"

namespace hostir::interp {
namespace {

// Where a predicate is evaluated.
struct At {
  const Interpreter& interpreter;
  Rank rank;
  CodeIndex code;

  const CodeInstruction& instruction() const { return interpreter.code().instructions[code]; }
};

using FieldValue = PredicateValue (*)(const At&);

PredicateValue text_of(std::string_view text) { return std::string(text); }

// The sequence number that the instruction has or will get: one after those already issued.
int64_t next_sequence(const At& at) {
  int64_t next = 0;
  for (const MeetingView& m : at.interpreter.ledger()) {
    if (m.comm != at.instruction().comm || m.point_to_point) continue;
    for (const ArrivalView& a : m.arrivals) {
      if (a.rank == at.rank && a.arrived)
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
  std::string_view name;
  FieldValue value;
};
constexpr auto kFields = std::to_array<Field>({
    {"rank", [](const At& a) -> PredicateValue { return int64_t{a.rank}; }},
    {"op", [](const At& a) { return text_of(record(a.instruction().kind).mnemonic); }},
    {"function",
     [](const At& a) {
       return text_of(a.interpreter.code().functions[a.instruction().function]->name);
     }},
    {"address", [](const At& a) { return text_of(a.interpreter.code().address(a.code)); }},
    {"comm", [](const At& a) { return text_of(communicator_name(a)); }},
    {"seq", [](const At& a) -> PredicateValue { return next_sequence(a); }},
    {"bytes", [](const At& a) -> PredicateValue { return operand_bytes(a); }},
    {"stream", [](const At& a) { return text_of(stream_name(a)); }},
    {"kernel", [](const At& a) { return text_of(kernel_name(a)); }},
    {"iteration", [](const At& a) -> PredicateValue { return iteration(a); }},
    {"position",
     [](const At& a) -> PredicateValue { return static_cast<int64_t>(a.interpreter.position()); }},
    {"steps",
     [](const At& a) -> PredicateValue {
       return static_cast<int64_t>(a.interpreter.rank(a.rank).steps);
     }},
    {"time", [](const At& a) -> PredicateValue { return a.interpreter.rank(a.rank).clock_ns; }},
    {"memory", [](const At& a) -> PredicateValue { return a.interpreter.live_bytes(a.rank); }},
    {"peak", [](const At& a) -> PredicateValue { return a.interpreter.peak_bytes(a.rank); }},
});
constexpr std::array<std::string_view, 5> kStatistics = {"nan", "inf", "min", "max", "mean"};

tl::unexpected<Error> unknown(std::string message) {
  return fail(ErrorKind::kUsage, "condition", std::move(message));
}

Expected<PredicateValue> field_value(const std::string& name, const At& at) {
  for (const Field& f : kFields) {
    if (f.name == name) return f.value(at);
  }
  return PredicateValue(name);  // a bare word is a string: op == all_reduce
}

Expected<PredicateValue> coordinate(const std::string& axis, const At& at) {
  const Mesh& mesh = *at.interpreter.code().world;
  const auto index = mesh.axis_index(axis);
  const auto position = mesh.position_of(at.rank);
  if (!index || !position) return unknown(fmt::format("no axis \"{}\"", axis));
  return PredicateValue(mesh.coord(*position, *index));
}

Expected<PredicateValue> statistic(const std::string& kind, const Tensor& t) {
  int64_t count = 0;
  int64_t numbers = 0;
  double sum = 0;
  double low = INFINITY;
  double high = -INFINITY;
  const int64_t n = t.element_count();
  for (int64_t i = 0; i < n; ++i) {
    const double v = t.get_double(i);
    if (kind == "nan") count += std::isnan(v) ? 1 : 0;
    if (kind == "inf") count += std::isinf(v) ? 1 : 0;
    numbers += std::isnan(v) ? 0 : 1;
    sum += v;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (kind == "nan" || kind == "inf") return PredicateValue(count);
  // A tensor of NaNs has no minimum.
  if (kind == "min") return PredicateValue(numbers == 0 ? NAN : low);
  if (kind == "max") return PredicateValue(numbers == 0 ? NAN : high);
  return PredicateValue(n == 0 ? 0 : sum / static_cast<double>(n));
}

// The number of other ranks that hold the same part of a value with different bits. Addends are not
// copies.
Expected<PredicateValue> differing_copies(const std::string& name, const At& at) {
  ValueQuery query;
  query.value = name;
  query.rank = at.rank;
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading own, read_value(at.interpreter, query));
  const Sharding* sharding = sharding_of(own.type);
  int64_t differ = 0;
  if (own.undefined || (sharding && sharding->is_partial())) return PredicateValue(differ);
  for (query.rank = 0; query.rank < at.interpreter.code().rank_count; ++query.rank) {
    if (query.rank == at.rank) continue;
    const auto other = read_value(at.interpreter, query);
    const bool copy = other && !other->undefined && other->box == own.box;
    if (copy && other->tensor.data != own.tensor.data) ++differ;
  }
  return PredicateValue(differ);
}

// A value that was never written has no number.
Expected<void> check_written(const ValueReading& reading, const std::string& name, const At& at) {
  if (!reading.undefined) return {};
  return unknown(fmt::format("nobody wrote %{} on rank {} yet", name, at.rank));
}

Expected<PredicateValue> call_value(const Predicate& leaf, const At& at) {
  if (leaf.text == "coord") return coordinate(leaf.symbol, at);
  if (leaf.text == "differs") return differing_copies(leaf.symbol, at);
  ValueQuery query;
  query.value = leaf.symbol;
  query.rank = at.rank;
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading reading, read_value(at.interpreter, query));
  HOSTIR_TRY(check_written(reading, leaf.symbol, at));
  return statistic(leaf.text, reading.tensor);
}

Expected<PredicateValue> element_value(const Predicate& leaf, const std::vector<int64_t>& index,
                                       const At& at) {
  ValueQuery query;
  query.value = leaf.text;
  query.rank = at.rank;
  Box box;
  box.lo = index;
  box.hi = index;
  for (int64_t& hi : box.hi) ++hi;
  HOSTIR_ASSIGN_OR_RETURN(const BufferRef buffer, find_buffer(at.interpreter, at.rank, leaf.text));
  if (index.size() != buffer.placement->global.size() || !buffer.placement->box.contains(box)) {
    return unknown(
        fmt::format("rank {} does not hold %{}{}", at.rank, leaf.text, index_to_string(index)));
  }
  query.box = box;
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading reading, read_value(at.interpreter, query));
  HOSTIR_TRY(check_written(reading, leaf.text, at));
  if (is_float(reading.tensor.dtype)) return PredicateValue(reading.tensor.get_double(0));
  return PredicateValue(reading.tensor.get_int(0));
}

bool is_statistic(const std::string& name) {
  return std::find(kStatistics.begin(), kStatistics.end(), name) != kStatistics.end();
}

// True for host integers and loop variables.
bool is_number(const std::string& name, const Code& code) {
  const std::vector<uint32_t> all = find_registers(code, name);
  return std::any_of(all.begin(), all.end(), [&](uint32_t reg) {
    const RegisterInfo& info = code.registers[reg];
    return std::holds_alternative<IndexType>(code.functions[info.function]->value(info.value).type);
  });
}

Expected<void> check_leaf(const Predicate& p, const Code& code) {
  switch (p.kind) {
    case Predicate::Kind::kLoop:
    case Predicate::Kind::kElement:
      if (find_registers(code, p.text).empty())
        return unknown(fmt::format("@{} has no value %{}", code.entry, p.text));
      if (p.kind == Predicate::Kind::kLoop && !is_number(p.text, code))
        return unknown(fmt::format(
            "%{0} is a tensor: ask for an element, %{0}[0, 1], or nan(%{0}), max(%{0}), ...",
            p.text));
      return {};
    case Predicate::Kind::kCall:
      if (p.text == "coord") {
        if (code.world->axis_index(p.symbol)) return {};
        return unknown(fmt::format("mesh @{} has no axis \"{}\"", code.world->name, p.symbol));
      }
      if (!is_statistic(p.text) && p.text != "differs")
        return unknown(fmt::format(
            "unknown function \"{}\"; coord nan inf min max mean differs exist", p.text));
      if (find_registers(code, p.symbol).empty())
        return unknown(fmt::format("@{} has no value %{}", code.entry, p.symbol));
      return {};
    default:
      return {};
  }
}

bool is_loop_variable(const std::string& name, const Code& code) {
  return std::any_of(code.instructions.begin(), code.instructions.end(),
                     [&](const CodeInstruction& c) {
                       return c.index_register != kNoRegister &&
                              code.register_name(c.index_register) == "%" + name;
                     });
}

// A bare word is a string only when compared with a string field.
bool is_field(const Predicate& p) {
  return p.kind == Predicate::Kind::kField &&
         std::any_of(kFields.begin(), kFields.end(),
                     [&](const Field& f) { return f.name == p.text; });
}

}  // namespace

PredicateLookup rank_lookup(const Interpreter& interpreter, Rank rank, CodeIndex code) {
  return [&interpreter, rank, code](const Predicate& leaf,
                                    const std::vector<int64_t>& index) -> Expected<PredicateValue> {
    const At at{interpreter, rank, code};
    switch (leaf.kind) {
      case Predicate::Kind::kField:
        return field_value(leaf.text, at);
      case Predicate::Kind::kCall:
        return call_value(leaf, at);
      case Predicate::Kind::kElement:
        return element_value(leaf, index, at);
      default:
        break;
    }
    const auto integer = find_integer(interpreter, rank, leaf.text);
    if (integer) return PredicateValue(*integer);
    return unknown(fmt::format("%{} has no value on rank {} here", leaf.text, rank));
  };
}

bool asks_only_where(const Predicate& predicate, const Code& code) {
  constexpr std::array<std::string_view, 7> kWhere = {"op",     "function", "address",  "comm",
                                                      "stream", "kernel",   "iteration"};
  switch (predicate.kind) {
    case Predicate::Kind::kField:
      // A bare word that is not a field is a string.
      if (is_field(predicate) &&
          std::find(kWhere.begin(), kWhere.end(), predicate.text) == kWhere.end())
        return false;
      break;
    case Predicate::Kind::kLoop:
      if (!is_loop_variable(predicate.text, code)) return false;
      break;
    case Predicate::Kind::kElement:
    case Predicate::Kind::kCall:
      return false;
    default:
      break;
  }
  return std::all_of(predicate.args.begin(), predicate.args.end(),
                     [&](const Predicate& p) { return asks_only_where(p, code); });
}

Expected<void> check_names(const Predicate& predicate, const Code& code) {
  HOSTIR_TRY(check_leaf(predicate, code));
  const bool bare = predicate.kind == Predicate::Kind::kField && !is_field(predicate);
  if (bare) {
    std::string names;
    for (const Field& f : kFields) names += (names.empty() ? "" : " ") + std::string(f.name);
    return unknown(fmt::format("unknown field \"{}\"; fields are {}", predicate.text, names));
  }
  const bool compares =
      predicate.kind == Predicate::Kind::kEq || predicate.kind == Predicate::Kind::kNe ||
      predicate.kind == Predicate::Kind::kMatch || predicate.kind == Predicate::Kind::kIn;
  for (size_t i = 0; i < predicate.args.size(); ++i) {
    const bool word = compares && i > 0 && predicate.args[i].kind == Predicate::Kind::kField;
    if (!word) HOSTIR_TRY(check_names(predicate.args[i], code));
  }
  return {};
}

}  // namespace hostir::interp
