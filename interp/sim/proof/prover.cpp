#include "interp/sim/proof/prover.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hostir/ir/access.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/core/interpreter.h"
#include "interp/sim/proof/expand_kernel.h"
#include "kernels/common/bind_kernel.h"

namespace hostir::sim::proof {

namespace {

constexpr int64_t kTokenBytes = sizeof(Token);

// The buffer with a token for each element.
BufferRef in_tokens(BufferRef ref) {
  if (ref.placement == nullptr) return ref;
  const int64_t element = size_bytes(ref.placement->dtype);
  ref.offset_bytes = ref.offset_bytes / element * kTokenBytes;
  ref.size_bytes = ref.size_bytes / element * kTokenBytes;
  return ref;
}

Placement in_tokens(Placement p) {
  p.dtype = DType::kI64;
  return p;
}

// A freed buffer holds no tokens. A program that races with a `free` may read one before the run
// ends with that race.
Token checked(Algebra& algebra, Token t) {
  if (algebra.has_state(t.state())) return t;
  return Token::of(algebra.failed(State::Kind::kUnknown, "elements of a freed buffer"), 0);
}

// Adds the tokens of a group, element by element.
void fold_tokens(Algebra& algebra, Reduction reduction, std::span<const std::byte* const> inputs,
                 std::byte* out, int64_t elems) {
  std::vector<StateId> states(inputs.size());
  std::vector<StateId> last;
  StateId made = 0;
  for (int64_t e = 0; e < elems; ++e) {
    std::optional<int64_t> index;
    bool alike = true;
    for (size_t m = 0; m < inputs.size(); ++m) {
      Token t;
      std::memcpy(&t, inputs[m] + e * kTokenBytes, sizeof t);
      t = checked(algebra, t);
      states[m] = t.state();
      const State& s = algebra.state(t.state());
      if (s.kind != State::Kind::kKnown || algebra.shape(s.form) == nullptr) continue;
      alike = alike && (!index || *index == t.index());
      index = t.index();
    }
    Token result;
    if (!alike) {
      result = Token::of(
          algebra.failed(State::Kind::kWrong,
                         fmt::format("a {} of different elements of {}", hostir::name(reduction),
                                     algebra.describe_state(states[0]))),
          0);
    } else {
      if (e == 0 || states != last) made = algebra.reduced(reduction, states);
      last = states;
      const State& s = algebra.state(made);
      const bool free = s.kind != State::Kind::kKnown || algebra.shape(s.form) == nullptr;
      result = Token::of(made, free ? 0 : index.value_or(0));
    }
    std::memcpy(out + e * kTokenBytes, &result, sizeof result);
  }
}

}  // namespace

Prover::Prover(Algebra& algebra, MovedValues& moved, Side side, const interp::Code& code,
               std::vector<std::string> parameters)
    : algebra_(algebra),
      moved_(moved),
      side_(side),
      code_(code),
      parameters_(std::move(parameters)),
      memory_(code.rank_count) {}

void Prover::begin(const interp::Interpreter& interpreter) {
  for (size_t p = 0; p < code_.parameters.size(); ++p) {
    const uint32_t reg = code_.parameters[p];
    const Type& type = code_.layouts[code_.registers[reg].layout].type;
    const Sharding* sharding = sharding_of(type);
    const Mesh* mesh = sharding == nullptr ? nullptr : code_.program->find_mesh(sharding->mesh);
    for (Rank r = 0; r < code_.rank_count; ++r) {
      const auto ref = interpreter.buffer(r, reg);
      if (!ref || ref->placement == nullptr) continue;
      allocated(r, *ref);
      const Placement& place = *ref->placement;
      const FormId form = algebra_.of_node(algebra_.node(parameters_[p], {}, place.global));
      algebra_.name(form, parameters_[p]);
      StateId state = algebra_.whole(form);
      const auto position = mesh == nullptr ? std::nullopt : mesh->position_of(r);
      if (position && sharding->is_partial()) {
        // Partial parameters are split into addends, one per position along the unreduced axes.
        int64_t count = 1;
        int64_t own = 0;
        for (const AxisRef& axis : sharding->unreduced) {
          own = own * mesh->axis_size(axis) + mesh->coord(*position, axis);
          count *= mesh->axis_size(axis);
        }
        const uint32_t id = algebra_.reduction("addends of " + parameters_[p], count);
        const CoverId cover = algebra_.restricted(Algebra::kWhole, {id, own, own + 1});
        state = algebra_.known(form, {{form, 1, cover}}, sharding->unreduced_kind);
      }
      Tokens tokens;
      const Box whole = Box::whole(place.global);
      for (int64_t e = 0; e < place.box.volume(); ++e) {
        int64_t index = 0;
        const std::vector<int64_t> at = place.box.index_at(e);
        for (size_t d = 0; d < at.size(); ++d) index = index * whole.hi[d] + at[d];
        tokens.push_back(Token::of(state, index));
      }
      write(r, *ref, tokens);
    }
  }
}

void Prover::allocated(Rank rank, const BufferRef& ref) {
  const BufferRef own = in_tokens(ref);
  memory_.allocate(rank, own.allocation, own.offset_bytes + own.size_bytes);
  const StateId unset = algebra_.failed(State::Kind::kUnknown, kUnwritten);
  const auto count = static_cast<size_t>(own.size_bytes / kTokenBytes);
  if (count == 0) return;
  const Tokens tokens(count, Token::of(unset, 0));
  std::memcpy(memory_.writable(rank, own, SimMemory::Keep::kNothingInRange), tokens.data(),
              count * sizeof(Token));
}

void Prover::released(Rank rank, const BufferRef& ref) { memory_.release(rank, ref.allocation); }

Tokens Prover::read(Rank rank, const BufferRef& ref) {
  const Placement place = in_tokens(*ref.placement);
  BufferRef own = in_tokens(ref);
  own.placement = &place;
  Tokens out(static_cast<size_t>(place.box.volume()));
  if (out.empty()) return out;
  const ChunkRef chunk = memory_.chunk(rank, own);
  gather(own, place, place.box, chunk->data() + own.offset_bytes,
         reinterpret_cast<std::byte*>(out.data()));
  for (Token& t : out) t = checked(algebra_, t);
  return out;
}

void Prover::write(Rank rank, const BufferRef& ref, const Tokens& tokens) {
  if (tokens.empty()) return;
  const Placement place = in_tokens(*ref.placement);
  BufferRef own = in_tokens(ref);
  own.placement = &place;
  std::byte* to = memory_.writable(rank, own, SimMemory::Keep::kEverything);
  scatter(own, place, place.box, to, reinterpret_cast<const std::byte*>(tokens.data()));
}

const Function& Prover::kernel_for(const Function& kernel,
                                   const interp::LaunchPlacements& operands) {
  ops::NamedSizes sizes;
  std::string key = kernel.name;
  for (size_t p = 0; p < kernel.params.size() && p < operands.parameters.size(); ++p) {
    const Shape& shape = shape_of(kernel.value(kernel.params[p].value).type);
    const Extents& global = operands.parameters[p]->global;
    for (size_t d = 0; d < shape.size() && d < global.size(); ++d) {
      if (shape[d].kind() == IndexExpr::Kind::kSize) sizes.emplace(shape[d].symbol(), global[d]);
    }
  }
  for (const auto& [name, size] : sizes) key += fmt::format(" {}={}", name, size.to_string());
  const auto at = kernels_.find(key);
  if (at != kernels_.end()) return at->second;
  return kernels_.emplace(key, expanded_kernel(*code_.program, kernel, sizes)).first->second;
}

void Prover::launched(Rank rank, interp::CodeIndex code, std::span<const BufferRef> buffers) {
  const interp::LaunchRoles roles = interp::roles_of(buffers);
  const interp::LaunchPlacements operands = interp::placements_of(buffers, roles);
  const auto named = interp::launched_kernel(code_, code);
  if (!named) return;  // the run reports it
  const bool own_rule = !(*named)->rule.empty();
  const Function& kernel = own_rule ? **named : kernel_for(**named, operands);
  const std::vector<Operand>& returned = kernels::returned_values(kernel);
  kernels::BoundKernel bound;
  if (own_rule) {
    bound.function = kernels::borrowed(kernel);
    bound.values.resize(kernel.values.size());
    for (size_t r = 0; r < returned.size(); ++r)
      bound.values[returned[r].value.index] = *operands.results[r];
    for (size_t p = 0; p < kernel.params.size(); ++p)
      bound.values[kernel.params[p].value.index] = *operands.parameters[p];
  } else {
    auto made =
        kernels::bind_kernel(*code_.program, kernel, rank, operands.parameters, operands.results);
    if (!made) return;
    bound = std::move(*made);
  }
  std::vector<Tokens> values(bound.values.size());
  for (size_t p = 0; p < roles.parameters.size(); ++p)
    values[kernel.params[p].value.index] = read(rank, buffers[roles.parameters[p]]);
  rules_.merge(evaluate(algebra_, moved_, side_, *code_.program, bound, values));
  for (size_t r = 0; r < returned.size(); ++r) {
    const BufferRef& ref = buffers[roles.results[r]];
    write(rank, ref, values[returned[r].value.index]);
    note(code, rank, ref, roles.results[r]);
  }
}

void Prover::exchanged(Exchanged what) {
  std::vector<BufferRef> outputs;
  std::vector<Rank> ranks;
  for (Contribution& m : what.members) {
    outputs.push_back(m.out);
    ranks.push_back(m.rank);
    m.in = in_tokens(m.in);
    m.out = in_tokens(m.out);
  }
  Exchange data(memory_, DType::kI64, what.reduction, what.root, what.pairs,
                std::move(what.members));
  data.fold_with(
      [this, &what](std::span<const std::byte* const> inputs, std::byte* out, int64_t elems) {
        fold_tokens(algebra_, what.reduction, inputs, out, elems);
      });
  if (const ExchangeFunction function = exchange_function(what.kind)) function(data);
  const Instruction& source = code_.source(what.code);
  size_t operand = 0;
  for (size_t o = 0; o < source.operands.size(); ++o) {
    if (writes(source.operands[o].access)) operand = o;
  }
  for (size_t m = 0; m < outputs.size(); ++m) {
    if (outputs[m].allocation.valid()) note(what.code, ranks[m], outputs[m], operand);
  }
}

void Prover::note(interp::CodeIndex code, Rank rank, const BufferRef& ref, size_t operand) {
  BufferRef after = ref;
  if (after.after != nullptr) after.placement = after.after;
  if (after.placement == nullptr) return;
  const Tokens tokens = read(rank, after);
  if (tokens.empty()) return;
  const StateId state = tokens.front().state();
  if (noted_.emplace(code, state).second) written_.push_back({code, rank, operand, state});
}

std::string Prover::name_of(const Written& w) const {
  const Instruction& i = code_.source(w.code);
  const Function& f = *code_.functions[code_.instructions[w.code].function];
  if (w.operand >= i.operands.size() || !i.operands[w.operand].value.valid()) return {};
  return "%" + f.value(i.operands[w.operand].value).name;
}

}  // namespace hostir::sim::proof
