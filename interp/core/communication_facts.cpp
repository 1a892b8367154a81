#include "interp/core/communication_facts.h"

#include <algorithm>

namespace hostir::interp {

ByteRange sent_bytes(const CommunicationItem& item, const CommunicationFacts& facts) {
  using Part = CommunicationFacts::Part;
  const BufferRef& in = item.in;
  const ByteRange nothing{in.offset_bytes, in.offset_bytes};
  if (facts.root == CommunicationFacts::RootHas::kInput && item.root != item.position)
    return nothing;
  if (facts.in == Part::kFree && !facts.point_to_point &&
      std::none_of(item.pairs.begin(), item.pairs.end(),
                   [&](const auto& pair) { return pair.first == item.position; }))
    return nothing;
  int64_t bytes = in.size_bytes;
  if (facts.in == Part::kBlocks && !item.send_counts.empty()) {
    bytes = std::min(bytes, item.send_counts.total() * size_bytes(item.dtype));
  }
  return {in.offset_bytes, in.offset_bytes + bytes};
}

ByteRange received_bytes(const CommunicationItem& item, const CommunicationFacts& facts) {
  const BufferRef& out = item.out;
  int64_t bytes = out.size_bytes;
  if (facts.root == CommunicationFacts::RootHas::kOutput && item.root != item.position) bytes = 0;
  if (facts.out == CommunicationFacts::Part::kBlocks && !item.recv_counts.empty()) {
    bytes = std::min(bytes, item.recv_counts.total() * size_bytes(item.dtype));
  }
  return {out.offset_bytes, out.offset_bytes + bytes};
}

}  // namespace hostir::interp
