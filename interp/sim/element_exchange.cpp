// Finds the elements of the members' inputs that contribute to one element of a communication's
// output.
//
// Runs the op's own exchange twice on element numbers instead of values, reducing by max and by
// min. If both give the same number, that element was moved. If they differ, elements of several
// members were combined; the numbers identify the members. So data movement is implemented only
// once, in comm/<op>.cpp, and a new op needs nothing here.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "hostir/ops/collective_cost.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/sim/backend_state.h"
#include "interp/sim/fold.h"

namespace hostir::sim {

namespace {

using interp::CommunicationItem;
using interp::ExchangeElement;
using interp::ExchangeMember;
using interp::ExchangeQuery;

constexpr int64_t kMostElements = int64_t{1} << 27;  // limit on numbered elements
constexpr int32_t kZero = 0;
constexpr int32_t kUntouched = -1;  // the pattern of undefined memory

int64_t element_total(const BufferRef& ref, DType dtype) {
  return ref.allocation.valid() ? ref.size_bytes / size_bytes(dtype) : 0;
}

// The first element of the placement that takes part.
int64_t first_element(const BufferRef& ref, const Placement& placement, int64_t skipped_bytes) {
  return ref.size_bytes == placement.local_bytes() ? 0
                                                   : skipped_bytes / size_bytes(placement.dtype);
}

const Placement* out_placement(const CommunicationItem& item) {
  return item.out.after != nullptr ? item.out.after : item.out.placement;
}

// The storage index of an element of a placement; -1: not stored there.
int64_t stored_at(const Placement& placement, const std::vector<int64_t>& element) {
  Box box{element, element};
  for (int64_t& hi : box.hi) ++hi;
  int64_t at = -1;
  if (element.size() == placement.box.lo.size() && placement.box.contains(box))
    for_each_run(BufferRef{}, placement, box, [&](int64_t s, int64_t, int64_t) { at = s; });
  return at;
}

std::vector<int64_t> element_at(const Placement& placement, int64_t stored) {
  std::vector<int64_t> out;
  for_each_run(BufferRef{}, placement, placement.box, [&](int64_t s, int64_t d, int64_t n) {
    if (stored >= s && stored < s + n) out = placement.box.index_at(d + stored - s);
  });
  return out;
}

// Runs the exchange on numbers: element e of member p is p * stride + e + 1. Returns the number at
// `at` in the output of `position`.
int32_t number_at(const ExchangeQuery& query, OpKind kind, Reduction reduction, int64_t stride,
                  int64_t at) {
  const size_t count = query.members.size();
  SimMemory memory(static_cast<Rank>(count));
  std::vector<Contribution> members;
  const DType dtype = query.members.front().item->dtype;
  constexpr int64_t kBytes = sizeof(int32_t);
  for (size_t p = 0; p < count; ++p) {
    const CommunicationItem& item = *query.members[p].item;
    Contribution& c = members.emplace_back();
    c.rank = static_cast<Rank>(p);
    c.send_counts = item.send_counts;
    c.recv_counts = item.recv_counts;
    if (item.in.allocation.valid()) {
      c.in.allocation = AllocationId{uint32_t{0}};
      c.in.size_bytes = element_total(item.in, dtype) * kBytes;
      memory.allocate(c.rank, c.in.allocation, c.in.size_bytes);
      std::byte* data = memory.writable(c.rank, c.in, SimMemory::Keep::kNothingInRange);
      for (int64_t e = 0; e < element_total(item.in, dtype); ++e) {
        const auto number = static_cast<int32_t>(static_cast<int64_t>(p) * stride + e + 1);
        std::memcpy(data + e * kBytes, &number, sizeof number);
      }
    }
    if (item.out.allocation.valid()) {
      c.out.allocation = AllocationId{uint32_t{1}};
      c.out.size_bytes = element_total(item.out, dtype) * kBytes;
      memory.allocate(c.rank, c.out.allocation, c.out.size_bytes);
    }
  }
  const CommunicationItem& asked = *query.members[query.position].item;
  const BufferRef out = members[query.position].out;
  Exchange exchange(memory, DType::kI32, reduction, asked.root, asked.pairs, std::move(members));
  if (const ExchangeFunction function = exchange_function(kind)) function(exchange);
  int32_t number = kUntouched;
  const ChunkRef chunk = memory.chunk(static_cast<Rank>(query.position), out);
  std::memcpy(&number, chunk->data() + at * kBytes, sizeof number);
  return number;
}

// Computes every partial result, in the simulator's accumulation dtype, and the final result.
void combine(Reduction reduction, DType dtype, ExchangeElement& out) {
  const bool narrow = is_narrow_float(dtype);
  const DType sum = narrow ? DType::kF32 : dtype;
  const Reduction so_far = reduction == Reduction::kAvg ? Reduction::kSum : reduction;
  std::vector<Tensor> values;
  std::vector<const std::byte*> wide;
  std::vector<const std::byte*> as_stored;
  values.reserve(out.sources.size());
  for (interp::ExchangeSource& source : out.sources) {
    values.push_back(narrow ? converted(source.value, sum) : source.value);
    wide.push_back(values.back().data.data());
    as_stored.push_back(source.value.data.data());
    source.running = Tensor::zeros(sum, {});
    fold(so_far, sum, wide, source.running.data.data(), 1);
  }
  out.value = Tensor::zeros(dtype, {});
  fold(reduction, dtype, as_stored, out.value.data.data(), 1);
}

}  // namespace

Expected<ExchangeElement> SimBackend::exchange_element(const ExchangeQuery& query) {
  const ExchangeMember& asked = query.members[query.position];
  const CommunicationItem& item = *asked.item;
  const OpKind kind = code_->instructions[item.code].kind;
  ExchangeElement out;
  std::vector<Rank> ranks;
  if (item.is_pair()) {
    const interp::MeetingKey key = key_of(item.members.front(), item);
    for (const int32_t end : {key.source, key.target})
      ranks.push_back(item.members[static_cast<size_t>(end)]);
  } else {
    ranks.assign(item.members.begin(), item.members.end());
  }
  const ItemCost cost = cost_of(item, kind, ranks);
  out.bytes = cost.bytes;
  out.wire_bytes = hostir::wire_bytes(kind, cost.bytes, static_cast<int64_t>(ranks.size()));
  out.latency_ns = cost.latency_ns;
  out.transfer_ns = cost.ns - cost.latency_ns;

  const Placement* placement = out_placement(item);
  if (!item.out.allocation.valid() || placement == nullptr) return out;
  int64_t at = stored_at(*placement, query.element);
  if (at < 0) return fail(ErrorKind::kRuntime, "no_element", "the rank does not hold this element");
  at -= first_element(item.out, *placement, asked.out_skipped_bytes);
  if (at < 0 || at >= element_total(item.out, item.dtype)) return out;
  int64_t stride = 1;
  for (const ExchangeMember& m : query.members)
    stride = std::max(stride, element_total(m.item->in, item.dtype));
  if (stride * static_cast<int64_t>(query.members.size()) > kMostElements) {
    return fail(ErrorKind::kRuntime, "no_element",
                fmt::format("{} elements on {} ranks are too many to follow one", stride,
                            query.members.size()));
  }
  const int32_t last = number_at(query, kind, Reduction::kMax, stride, at);
  const int32_t first = number_at(query, kind, Reduction::kMin, stride, at);
  if (last == kUntouched) return out;
  out.value = Tensor::zeros(item.dtype, {});
  out.kind = ExchangeElement::Kind::kZero;
  if (last == kZero) return out;
  out.kind = last == first ? ExchangeElement::Kind::kMoved : ExchangeElement::Kind::kCombined;
  const auto member = [&](int32_t number) { return static_cast<size_t>((number - 1) / stride); };
  for (size_t p = member(first); p <= member(last); ++p) {
    const ExchangeMember& m = query.members[p];
    const BufferRef& in = m.item->in;
    const int64_t e = (last - 1) % stride;
    interp::ExchangeSource& source = out.sources.emplace_back();
    source.position = p;
    if (in.placement != nullptr) {
      source.element =
          element_at(*in.placement, e + first_element(in, *in.placement, m.in_skipped_bytes));
    }
    source.value = Tensor::zeros(item.dtype, {});
    const ChunkRef chunk = contents(m.item->is_pair() ? ranks[p] : m.item->members[p], in);
    const int64_t bytes = size_bytes(item.dtype);
    std::memcpy(source.value.data.data(), chunk->data() + in.offset_bytes + e * bytes,
                static_cast<size_t>(bytes));
    source.running = source.value;
  }
  if (out.kind == ExchangeElement::Kind::kMoved) out.value = out.sources.front().value;
  if (out.kind == ExchangeElement::Kind::kCombined) combine(item.reduction, item.dtype, out);
  return out;
}

}  // namespace hostir::sim
