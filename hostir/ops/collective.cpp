#include "hostir/ops/collective.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/lists.h"

namespace hostir::ops {

std::vector<OperandSpec> collective_operands() {
  using Arity = OperandSpec::Arity;
  return {
      {.name = "comm", .doc = "the communicator"},
      {.name = "input", .doc = "what is sent", .arity = Arity::kOptional, .access = Access::kRead},
      {.name = "output",
       .doc = "what is received",
       .arity = Arity::kOptional,
       .access = Access::kWrite},
      {.name = "buffer",
       .doc = "both, in place",
       .arity = Arity::kOptional,
       .access = Access::kReadWrite},
      {.name = "stream", .doc = "the stream that orders it"}};
}

std::vector<ResultSpec> event_result() {
  return {{.name = "event", .doc = "completes with the operation"}};
}

AttributeSpec reduction_attribute() {
  return {.name = "reduction",
          .type = AttributeSpec::Type::kReduction,
          .doc = "sum, avg, prod, min or max",
          .required = true};
}

AttributeSpec root_attribute() {
  return {.name = "root",
          .type = AttributeSpec::Type::kExpr,
          .doc = "the position of the root in the communicator",
          .required = true};
}

AttributeSpec peer_attribute() {
  return {.name = "peer",
          .type = AttributeSpec::Type::kExpr,
          .doc = "the position of the other side in the communicator",
          .required = true};
}

std::vector<SlotOperand> in_slot(const OpCall& call, std::string_view slot) {
  std::vector<SlotOperand> found;
  if (call.instruction == nullptr || call.function == nullptr) return found;
  const OpRecord& op = record(call.kind);
  const auto& operands = call.instruction->operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].slot >= op.operands.size() || op.operands[operands[i].slot].name != slot)
      continue;
    const bool none = !operands[i].value.valid();
    found.push_back(
        {i, &operands[i], none ? nullptr : &call.function->value(operands[i].value).type});
  }
  return found;
}

std::optional<SlotOperand> first_in(const OpCall& call, std::string_view slot) {
  for (const SlotOperand& found : in_slot(call, slot)) {
    if (found.type != nullptr) return found;
  }
  return std::nullopt;
}

namespace {

const Instruction* communicator(const OpCall& call) {
  const auto comm = first_in(call, "comm");
  if (!comm) return nullptr;
  const InstrId by = call.function->value(comm->operand->value).defined_by;
  return by.valid() ? &call.function->instr(by) : nullptr;
}

const Mesh* mesh_of(const OpCall& call, const Instruction& comm) {
  if (call.program == nullptr) return nullptr;
  const auto* symbol = comm.attributes.get<Symbol>("mesh");
  return call.program->find_mesh(symbol != nullptr ? symbol->name : call.function->mesh);
}

Violation at(const SlotOperand& operand, std::string message) {
  return {std::move(message), static_cast<int>(operand.index)};
}

Violated check_position(const OpCall& call, std::string_view attribute) {
  const auto* expr = call.attributes.get<IndexExpr>(attribute);
  if (expr == nullptr) return std::nullopt;
  const IndexExpr position = expr->simplified();
  if (!position.is_const()) return std::nullopt;
  const auto members = member_count(call);
  const bool outside = position.value() < 0 || (members && position.value() >= *members);
  if (!outside) return std::nullopt;
  return Violation{members ? fmt::format("{} {} is not a position in a communicator of {}",
                                         attribute, position.value(), *members)
                           : fmt::format("{} {} is not a position in a communicator", attribute,
                                         position.value())};
}

// The element count of a type with the same shape on every rank; nullopt if unknown.
std::optional<int64_t> local_elements(const Type& type) {
  const auto* tensor = std::get_if<TensorType>(&type);
  if (tensor == nullptr) return std::nullopt;
  const auto extents = constant_extents(tensor->shape);
  return extents ? element_count(*extents) : std::nullopt;
}

}  // namespace

std::optional<int64_t> member_count(const OpCall& call) {
  const Instruction* comm = communicator(call);
  if (comm == nullptr) return std::nullopt;
  if (const auto* groups = comm->attributes.get<IntLists>("groups")) {
    if (groups->empty()) return std::nullopt;
    const size_t first = groups->front().size();
    const bool alike = std::all_of(groups->begin(), groups->end(),
                                   [&](const auto& group) { return group.size() == first; });
    return alike ? std::optional(static_cast<int64_t>(first)) : std::nullopt;
  }
  const auto* axes = comm->attributes.get<AxisList>("axes");
  const Mesh* mesh = mesh_of(call, *comm);
  if (axes == nullptr || mesh == nullptr) return std::nullopt;
  int64_t members = 1;
  for (const AxisRef& axis : *axes) {
    if (!mesh->axis_index(axis.name)) return std::nullopt;
    members *= mesh->axis_size(axis);
  }
  return members;
}

Violated check_handles(const OpCall& call) {
  for (const SlotOperand& comm : in_slot(call, "comm")) {
    if (comm.type == nullptr || !std::holds_alternative<CommType>(*comm.type)) {
      return at(comm, fmt::format("{} needs a communicator here", record(call.kind).mnemonic));
    }
  }
  for (const SlotOperand& stream : in_slot(call, "stream")) {
    if (stream.type == nullptr || !std::holds_alternative<StreamType>(*stream.type)) {
      return at(stream, fmt::format("{} needs a stream here", record(call.kind).mnemonic));
    }
  }
  return std::nullopt;
}

Violated check_form(const OpCall& call) {
  const auto inputs = in_slot(call, "input");
  const auto outputs = in_slot(call, "output");
  const auto buffers = in_slot(call, "buffer");
  const bool apart = inputs.size() == 1 && outputs.size() == 1 && buffers.empty();
  const bool in_place = inputs.empty() && outputs.empty() && buffers.size() == 1;
  if (!apart && !in_place) {
    return Violation{fmt::format("{} takes ro(input) wo(output), or rw(buffer) alone",
                                 record(call.kind).mnemonic)};
  }
  for (const auto& list : {inputs, outputs, buffers}) {
    for (const SlotOperand& operand : list) {
      if (operand.type != nullptr && !is_tensor(*operand.type)) {
        return at(operand, fmt::format("{} takes buffers, not {}", record(call.kind).mnemonic,
                                       to_string(*operand.type)));
      }
    }
  }
  return std::nullopt;
}

Violated check_dtypes(const OpCall& call) {
  const auto input = first_in(call, "input");
  const auto output = first_in(call, "output");
  if (!input || !output || !is_tensor(*input->type) || !is_tensor(*output->type)) {
    return std::nullopt;
  }
  const DType in = dtype_of(*input->type);
  const DType out = dtype_of(*output->type);
  if (in == out) return std::nullopt;
  return at(*output, fmt::format("{} from {} into {}: the dtypes differ",
                                 record(call.kind).mnemonic, name(in), name(out)));
}

Violated check_reducible(const OpCall& call) {
  for (const std::string_view slot : {"input", "output", "buffer"}) {
    const auto operand = first_in(call, slot);
    if (operand && is_tensor(*operand->type) && dtype_of(*operand->type) == DType::kI1) {
      return at(*operand, fmt::format("{} cannot reduce i1", record(call.kind).mnemonic));
    }
  }
  return check_dtypes(call);
}

Violated check_root(const OpCall& call) { return check_position(call, "root"); }
Violated check_peer(const OpCall& call) { return check_position(call, "peer"); }

Violated check_transfer_buffer(const OpCall& call) {
  for (const char* slot : {"input", "output"}) {
    for (const SlotOperand& buffer : in_slot(call, slot)) {
      const bool fits =
          buffer.type != nullptr && (std::holds_alternative<TensorType>(*buffer.type) ||
                                     std::holds_alternative<ShardType>(*buffer.type));
      if (!fits) {
        return Violation{fmt::format("{} needs a buffer here", record(call.kind).mnemonic),
                         static_cast<int>(buffer.index)};
      }
    }
  }
  return std::nullopt;
}

Violated check_extent(const OpCall& call, Extent extent) {
  const auto input = first_in(call, "input");
  const auto output = first_in(call, "output");
  if (!input || !output) return std::nullopt;
  const auto in = local_elements(*input->type);
  const auto out = local_elements(*output->type);
  const auto members = extent == Extent::kSame ? std::optional<int64_t>(1) : member_count(call);
  if (!in || !out || !members) return std::nullopt;
  int64_t wanted_in = *in;
  int64_t wanted_out = *out;
  int64_t& part = extent == Extent::kInputIsAll ? wanted_out : wanted_in;
  if (__builtin_mul_overflow(part, *members, &part)) return std::nullopt;
  if (wanted_in == wanted_out) return std::nullopt;
  const bool divides = extent != Extent::kInputIsAll || *in % *members == 0;
  const int64_t expected = extent == Extent::kInputIsAll ? *in / *members : wanted_in;
  return at(*output,
            fmt::format("{} over {} members from {} elements into {}; {}",
                        record(call.kind).mnemonic, member_count(call).value_or(1), *in, *out,
                        divides ? fmt::format("the output needs {}", expected)
                                : fmt::format("{} elements cannot be divided into {} equal parts",
                                              *in, *members)));
}

Violated check_reduced_layout(const OpCall& call) {
  const Instruction* comm = communicator(call);
  const auto* axes = comm != nullptr ? comm->attributes.get<AxisList>("axes") : nullptr;
  if (axes == nullptr) return std::nullopt;
  const auto output = first_in(call, "output");
  const auto buffer = first_in(call, "buffer");
  const Sharding* after = nullptr;
  if (output) after = sharding_of(*output->type);
  if (output && output->operand->becomes) after = &*output->operand->becomes;
  if (buffer && buffer->operand->becomes) after = &*buffer->operand->becomes;
  if (after == nullptr) return std::nullopt;
  for (const AxisRef& axis : after->unreduced) {
    if (contains(*axes, axis)) {
      return at(output ? *output : *buffer,
                fmt::format("{} over {{{}}} leaves a result that is still unreduced over it",
                            record(call.kind).mnemonic, axis.to_string()));
    }
  }
  return std::nullopt;
}

}  // namespace hostir::ops
