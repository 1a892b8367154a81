#include "gui/panels/collectives/collective_glyph.h"

namespace hostir::gui {

namespace {

struct Mark {
  std::string_view mnemonic;
  std::string_view glyph;
  EventKind kind;
};

constexpr Mark kMarks[] = {
    {"all_reduce", "\u03a3", EventKind::kReduce},     {"reduce", "\u03a3", EventKind::kReduce},
    {"all_gather", "\u229e", EventKind::kGather},     {"gather", "\u229e", EventKind::kGather},
    {"reduce_scatter", "\u229f", EventKind::kGather}, {"scatter", "\u229f", EventKind::kGather},
    {"all_to_all", "\u21c4", EventKind::kGather},     {"broadcast", "\u21c9", EventKind::kGather},
    {"permute", "\u2192", EventKind::kPointToPoint},  {"send", "\u2192", EventKind::kPointToPoint},
    {"recv", "\u2190", EventKind::kPointToPoint},     {"group", "\u21c4", EventKind::kPointToPoint},
};

const Mark* mark_of(std::string_view mnemonic) {
  for (const Mark& mark : kMarks) {
    if (mark.mnemonic == mnemonic) return &mark;
  }
  return nullptr;
}

}  // namespace

std::string_view collective_glyph(std::string_view mnemonic) {
  const Mark* mark = mark_of(mnemonic);
  return mark ? mark->glyph : std::string_view();
}

std::string with_glyph(std::string_view mnemonic) {
  const std::string_view glyph = collective_glyph(mnemonic);
  return glyph.empty() ? std::string(mnemonic) : std::string(glyph) + " " + std::string(mnemonic);
}

EventKind event_kind(std::string_view mnemonic, bool on_stream) {
  if (const Mark* mark = mark_of(mnemonic)) return mark->kind;
  if (mnemonic == "launch") return EventKind::kCompute;
  if (mnemonic == "alloc" || mnemonic == "free") return EventKind::kMemory;
  return mnemonic == "wait" && !on_stream ? EventKind::kWait : EventKind::kHost;
}

}  // namespace hostir::gui
