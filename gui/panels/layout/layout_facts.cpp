#include "gui/panels/layout/layout_facts.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/values/value_text.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxOwners = 8;

// One element of a tensor, as held by one rank.
struct Owned {
  interp::Rank rank;
  const ReadingSlot* slot;
};

interp::ValueQuery element_query(const std::string& value, interp::Rank rank,
                                 const std::vector<int64_t>& element) {
  interp::ValueQuery query;
  query.value = value;
  query.rank = rank;
  Box box{element, element};
  for (int64_t& hi : box.hi) ++hi;
  query.box = box;
  return query;
}

std::vector<Owned> owners_of(Frame& frame, const TensorView& tensor,
                             const std::vector<int64_t>& element, size_t& hidden) {
  std::vector<Owned> owners;
  for (size_t r = 0; r < tensor.by_rank.size(); ++r) {
    const interp::AllocationSnapshot* held = tensor.by_rank[r];
    if (!held || !held->live || !held->placement.box.holds(element)) continue;
    if (owners.size() == kMaxOwners) {
      ++hidden;
      continue;
    }
    const auto rank = static_cast<interp::Rank>(r);
    owners.push_back({rank, &frame.model.reading(element_query(tensor.name, rank, element))});
  }
  return owners;
}

const Tensor* value_of(const Owned& owner) {
  return owner.slot->reading && owner.slot->reading->tensor.element_count() == 1
             ? &owner.slot->reading->tensor
             : nullptr;
}

void copies(Frame& frame, const std::vector<Owned>& owners) {
  std::vector<const Owned*> known;
  for (const Owned& o : owners) {
    if (value_of(o)) known.push_back(&o);
  }
  if (known.size() < 2) return;
  const bool in_flight = std::any_of(
      known.begin(), known.end(), [](const Owned* o) { return o->slot->reading->write_in_flight; });
  if (in_flight) {  // during an in-place all_reduce, these are still addends
    frame.ui.text_dim("a write is in flight: copies are compared when it is done");
    frame.ui.tag("layout/copies", "in flight");
    return;
  }
  std::string differ;
  for (const Owned* o : known) {
    if (value_of(*o)->data != value_of(*known.front())->data)
      differ += fmt::format(" r{}", o->rank);
  }
  if (differ.empty()) {
    frame.ui.state_word(StateKind::kOk, fmt::format("{} copies agree, bit for bit", known.size()));
    frame.ui.tag("layout/copies", "agree");
  } else {
    frame.ui.state_word(StateKind::kMismatch,
                        fmt::format("copies differ from r{}'s:{}", known.front()->rank, differ));
    frame.ui.tag("layout/copies", "differ");
  }
}

// For a partial element: each rank's addend, and their reduction.
void addends(Frame& frame, const TensorView& tensor, const std::vector<int64_t>& element) {
  interp::ValueQuery query = element_query(tensor.name, 0, element);
  query.from = interp::ValueQuery::From::kGlobal;
  const ReadingSlot& slot = frame.model.reading(query);
  const std::string sum = slot.reading && slot.reading->undefined ? "not known yet"
                          : slot.reading && slot.reading->tensor.element_count() == 1
                              ? value_text(slot.reading->tensor, 0, ValueFormat::kDecimal)
                          : slot.error.empty() ? "..."
                                               : slot.error;
  frame.ui.text_mono("\u03a3 = " + sum);
  frame.ui.tag("layout/sum", sum);
}

void element_facts(Frame& frame, const TensorView& tensor, const LayoutSource& source,
                   const std::vector<int64_t>& element) {
  frame.ui.text_mono("%" + tensor.name + index_text(element));
  frame.ui.tag("layout/element", index_text(element));
  size_t hidden = 0;
  const std::vector<Owned> owners = owners_of(frame, tensor, element, hidden);
  if (owners.empty()) frame.ui.text_dim("no rank holds it now");
  for (const Owned& o : owners) {
    if (frame.ui.rank_chip(o.rank, o.rank == frame.model.snapshot()->focus,
                           fmt::format("layout/owner/{}", o.rank)))
      frame.actions.command(fmt::format("focus {}", o.rank));
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = o.rank;
    ImGui::SameLine();
    const Tensor* value = value_of(o);
    const bool undefined = o.slot->reading && o.slot->reading->undefined;
    std::string text = undefined               ? "not written yet"
                       : value                 ? value_text(*value, 0, ValueFormat::kDecimal)
                       : o.slot->error.empty() ? "..."
                                               : o.slot->error;
    if (source.is_partial()) text += "  (addend)";
    frame.ui.text_mono(text);
    frame.ui.tag(fmt::format("layout/value/{}", o.rank), text);
  }
  if (hidden > 0) frame.ui.text_dim(fmt::format("and {} more holders", hidden));
  if (source.is_partial()) {
    addends(frame, tensor, element);
  } else {
    copies(frame, owners);
  }
}

void uneven_facts(Frame& frame, const LayoutSource& source) {
  for (size_t d = 0; d < source.global.size(); ++d) {
    const std::vector<int64_t> sizes = cut_sizes(source, d);
    if (sizes.empty()) continue;
    bool uneven = false;
    std::string text;
    for (size_t i = 0; i < sizes.size() && i < 16; ++i) {
      uneven = uneven || sizes[i] != sizes[0];
      text += fmt::format("{}{}", i ? ", " : "", sizes[i]);
    }
    if (sizes.size() > 16) text += ", ...";
    text = fmt::format("dim {} is cut {}{}", d, text, uneven ? "  (uneven)" : "");
    frame.ui.text_dim(text);
    frame.ui.tag(fmt::format("layout/cut/{}", d), text);
  }
}

void writer_facts(Frame& frame, const interp::AllocationSnapshot& a, bool in_flight) {
  const interp::Snapshot& shot = *frame.model.snapshot();
  if (shot.from_log || !shot.no_stepping.empty()) {  // a log has layouts, not versions
    frame.ui.text_dim("from the log");
    return frame.ui.tag("layout/version", "from the log");
  }
  std::string text = fmt::format("version {}", a.version);
  if (a.written_by.empty())
    text += a.parameter ? ", a parameter" : ", never written: contents mean nothing";
  if (!a.live) text += ", freed";
  if (!a.written_by.empty()) text += in_flight ? ", being written by" : ", written by";
  frame.ui.text_dim(text);
  frame.ui.tag("layout/version", text);
  if (a.written_by.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().link);
  frame.ui.text(a.written_by);
  ImGui::PopStyleColor();
  frame.ui.tag("layout/writer", a.written_by);
  if (!ImGui::IsItemClicked()) return;
  const interp::ProgramView& program = *shot.program;
  for (interp::CodeIndex i = 0; i < program.instructions.size(); ++i) {
    if (!program.mnemonic(i).empty() && program.instructions[i].address == a.written_by) {
      frame.model.selection.code = i;
      return;
    }
  }
}

}  // namespace

void draw_layout_facts(Frame& frame, const TensorView& tensor, const LayoutView& view) {
  const LayoutSource& source = view.source;
  ImGui::PushTextWrapPos(0);
  const bool in_flight = std::any_of(
      view.in_flight_on.begin(), view.in_flight_on.end(),
      [&](interp::Rank r) { return tensor.by_rank[static_cast<size_t>(r)] == tensor.first; });
  if (tensor.valid()) writer_facts(frame, *tensor.first, in_flight);
  uneven_facts(frame, source);
  if (!tensor.valid()) {
    ImGui::PopTextWrapPos();
    return;
  }
  const std::vector<int64_t>& element = frame.model.selection.element;
  ImGui::Dummy(ImVec2(0, frame.ui.px(4)));
  if (Box::whole(source.global).holds(element)) {
    element_facts(frame, tensor, source, element);
  } else {
    frame.ui.text_dim("click an element to see it on every rank");
  }
  ImGui::PopTextWrapPos();
}

}  // namespace hostir::gui
