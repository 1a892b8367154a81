#include "gui/panels/program/inline_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/values/value_text.h"

namespace hostir::gui {

namespace {

constexpr int64_t kMaxElements = 4096;

std::string summary(const Tensor& tensor) {
  const int64_t n = tensor.element_count();
  if (n == 0) return "\u2205";
  if (n <= 3) {
    std::string text;
    for (int64_t i = 0; i < n; ++i)
      text += (i ? " " : "") + value_text(tensor, i, ValueFormat::kDecimal);
    return text;
  }
  double min = 0;
  double max = 0;
  int64_t finite = 0;
  int64_t odd = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = tensor.get_double(i);
    if (!std::isfinite(v)) {
      ++odd;
      continue;
    }
    min = finite ? std::min(min, v) : v;
    max = finite ? std::max(max, v) : v;
    ++finite;
  }
  std::string text;
  if (odd > 0) text = fmt::format("{} NaN/Inf  ", odd);  // first, because the end may be clipped
  if (finite > 0)
    text += min == max ? fmt::format("all {:.6g}", min) : fmt::format("{:.4g} .. {:.4g}", min, max);
  return text;
}

}  // namespace

void InlineValues::index(const Frame& frame) {
  const interp::Snapshot& shot = *frame.model.snapshot();
  // The map has pointers into the snapshot: rebuild it for every new snapshot.
  generation_ = frame.model.generation();
  by_writer_.clear();
  for (const interp::AllocationSnapshot& a :
       shot.memory[static_cast<size_t>(shot.focus)]->allocations) {
    if (a.live && !a.written_by.empty()) by_writer_.emplace(a.written_by, &a);
  }
}

std::string InlineValues::text(Frame& frame, interp::CodeIndex code) {
  if (generation_ != frame.model.generation()) index(frame);
  const interp::Snapshot& shot = *frame.model.snapshot();
  const auto found = by_writer_.find(shot.program->address(code));
  if (found == by_writer_.end()) return {};
  const interp::AllocationSnapshot& a = *found->second;
  std::string shape;
  for (const int64_t e : a.placement.local())
    shape += fmt::format("{}{}", shape.empty() ? "" : "x", e);
  const std::string head = "[" + shape + "]";
  if (a.placement.box.volume() > kMaxElements) return head;
  interp::ValueQuery query;
  query.value = a.name;
  query.rank = shot.focus;
  const ReadingSlot& slot = frame.model.reading(query);
  if (!slot.reading || slot.reading->undefined) return head;
  Summary& known = known_[code];
  if (known.of != slot.serial) {
    ++summaries_;
    known.of = slot.serial;
    known.text = summary(slot.reading->tensor) + (slot.reading->write_in_flight ? " \u25d4" : "");
  }
  return known.text;
}

}  // namespace hostir::gui
