#include "gui/panels/inside/inside_query.h"

namespace hostir::gui {

namespace {

// True if an instruction, or a member of its group, writes the value.
bool writes(const interp::Code& code, interp::CodeIndex index, const std::string& value) {
  for (interp::CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const interp::CodeInstruction& c = code.instructions[i];
    if ((i != index && c.group != index) || c.role != interp::CodeRole::kInstruction) continue;
    for (const Operand& operand : code.source(i).operands) {
      if (operand.access != Access::kWrite && operand.access != Access::kReadWrite) continue;
      if (operand.value.valid() && code.functions[c.function]->value(operand.value).name == value)
        return true;
    }
  }
  return false;
}

}  // namespace

interp::InsideQuery InsideFetch::query_of(const Model& model) {
  const interp::Snapshot& shot = *model.snapshot();
  if (!(shot.position == position_) || shot.focus != focus_) pinned_.reset();
  if (model.selection.code != seen_) pinned_ = model.selection.code;
  position_ = shot.position;
  focus_ = shot.focus;
  seen_ = model.selection.code;
  interp::InsideQuery query;
  query.rank = shot.focus;
  const interp::RankSnapshot& rank = shot.rank(shot.focus);
  const bool done = rank.status == interp::RankStatus::kDone;
  const interp::CodeIndex here = done ? interp::kAtRank : rank.code;
  query.code = pinned_ ? *pinned_ : here;
  const interp::Code* code = shot.program->code.get();
  if (!code || query.code >= code->instructions.size()) return query;
  if (chosen_for_ != query.code) {
    value_.clear();
    element_.clear();
  }
  chosen_for_ = query.code;
  const Selection& s = model.selection;
  if (!s.value.empty() && writes(*code, query.code, s.value)) {
    if (value_ != s.value || !s.element.empty()) element_ = s.element;
    value_ = s.value;
  }
  query.value = value_;
  query.element = element_;
  return query;
}

const interp::Inside* InsideFetch::get(Model& model) {
  if (opened_ != model.last_opened()) {
    slot_ = std::make_shared<Slot>();
    pinned_.reset();
    chosen_for_ = interp::kAtRank;
    seen_ = model.selection.code;
    opened_ = model.last_opened();
  }
  const Key key{query_of(model), model.generation(), opened_};
  if (!model.running() && slot_->asked != key) {
    slot_->asked = key;
    slot_->pending = true;
    model.worker().query_session(
        "inside", [slot = slot_, key](interp::Session& session) -> std::function<void()> {
          auto answer = std::make_shared<Expected<interp::Inside>>(session.inside(key.query));
          return [slot, key, answer] {
            if (slot->asked != key) return;
            slot->pending = false;
            slot->error.clear();
            slot->answer.reset();
            if (*answer)
              slot->answer = std::move(**answer);
            else
              slot->error = answer->error().message();
          };
        });
  }
  return slot_->answer ? &*slot_->answer : nullptr;
}

}  // namespace hostir::gui
