// Asking the log from a panel: one outstanding question at a time, the answer shown until a newer
// one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gui/panel.h"

namespace hostir::gui {

/// The answer to a question that depends on `Key` (what is visible, filters, the generation of the
/// model). `get` asks again when the key changed; until then the last answer stays. The slot is
/// shared with the worker, so a panel may die while a question runs.
template <class Key, class Answer>
class LogFetch {
 public:
  explicit LogFetch(std::string name) : name_(std::move(name)) {}

  using Question = std::function<Expected<Answer>(const interp::LogView&, std::stop_token)>;

  /// Null until the first answer. Errors of the log are in `error()`.
  const Answer* get(Model& model, const Key& key, Question question) {
    // Answers about another log are about nothing here: it may have other ranks and instructions.
    if (std::exchange(opened_, model.last_opened()) != model.last_opened())
      slot_ = std::make_shared<Slot>();
    if (!slot_->asked || !(slot_->asked_key == key)) {
      slot_->asked = true;
      slot_->asked_key = key;
      slot_->pending = true;
      auto slot = slot_;
      model.worker().ask_log(
          name_,
          [slot, key, question = std::move(question)](
              const interp::LogView& log, std::stop_token stop) -> std::function<void()> {
            auto answer = std::make_shared<Expected<Answer>>(question(log, stop));
            return [slot, key, answer] {
              if (!(slot->asked_key == key)) return;
              slot->pending = false;
              if (*answer) {
                slot->answer = std::make_unique<Answer>(std::move(**answer));
                slot->error.clear();
              } else {
                slot->error = answer->error().message();
              }
            };
          });
    }
    return slot_->answer.get();
  }
  /// The newest answer about the open log, to whatever question. Pointers of an earlier frame are
  /// not kept: an answer that came in between has taken their place.
  const Answer* last(const Model& model) const {
    return opened_ == model.last_opened() ? slot_->answer.get() : nullptr;
  }
  bool pending() const { return slot_->pending; }
  const std::string& error() const { return slot_->error; }

 private:
  struct Slot {
    Key asked_key{};
    bool asked = false;
    bool pending = false;
    std::unique_ptr<Answer> answer;
    std::string error;
  };
  std::string name_;
  uint64_t opened_ = 0;  // Model::last_opened() of the slot
  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

}  // namespace hostir::gui
