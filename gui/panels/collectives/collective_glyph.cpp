#include "gui/panels/collectives/collective_glyph.h"

#include "hostir/ops/record.h"

namespace hostir::gui {

std::string_view collective_glyph(std::string_view mnemonic) {
  const auto kind = find_op(mnemonic);
  return kind ? record(*kind).communication.glyph : std::string_view();
}

std::string with_glyph(std::string_view mnemonic) {
  const std::string_view glyph = collective_glyph(mnemonic);
  return glyph.empty() ? std::string(mnemonic) : std::string(glyph) + " " + std::string(mnemonic);
}

EventKind event_kind(std::string_view mnemonic, bool on_stream) {
  const auto kind = find_op(mnemonic);
  if (!kind) return EventKind::kHost;
  const OpRecord& op = record(*kind);
  if (!op.communication.glyph.empty()) {
    switch (op.communication.family) {
      case Communication::Family::kReduction:
        return EventKind::kReduce;
      case Communication::Family::kExchange:
        return EventKind::kGather;
      case Communication::Family::kPointToPoint:
        return EventKind::kPointToPoint;
    }
  }
  switch (op.role) {
    case HostRole::kLaunch:
      return EventKind::kCompute;
    case HostRole::kAlloc:
    case HostRole::kFree:
      return EventKind::kMemory;
    case HostRole::kWait:
      return on_stream ? EventKind::kHost : EventKind::kWait;
    default:
      return EventKind::kHost;
  }
}

}  // namespace hostir::gui
