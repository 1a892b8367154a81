// Asking the log from a panel: one outstanding question at a time, the answer shown until a newer
// one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gui/panel.h"

namespace hostir::gui {

/// What a piece of a long question found so far, if that is to be shown, and whether there is more
/// to do.
template <class Answer>
struct LogPiece {
  std::optional<Answer> answer;
  bool more = false;
};

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
    return get_in_pieces(
        model, key,
        [question = std::move(question)](const interp::LogView& log,
                                         std::stop_token stop) -> Expected<LogPiece<Answer>> {
          HOSTIR_ASSIGN_OR_RETURN(Answer answer, question(log, std::move(stop)));
          return LogPiece<Answer>{std::move(answer), false};
        });
  }

  /// The same for what goes through the whole log. `pieces` is called until there is no more, other
  /// questions in between; answers of earlier pieces are shown until there are newer ones.
  using Pieces = std::function<Expected<LogPiece<Answer>>(const interp::LogView&, std::stop_token)>;
  const Answer* get_in_pieces(Model& model, const Key& key, Pieces pieces) {
    // Answers about another log are about nothing here: it may have other ranks and instructions.
    if (std::exchange(opened_, model.last_opened()) != model.last_opened())
      slot_ = std::make_shared<Slot>();
    if (!slot_->asked || !(slot_->asked_key == key)) {
      slot_->asked = true;
      slot_->asked_key = key;
      slot_->pending = true;
      auto slot = slot_;
      model.worker().ask_log_in_pieces(
          name_, [slot, key, pieces = std::move(pieces)](const interp::LogView& log,
                                                         std::stop_token stop) {
            auto piece = std::make_shared<Expected<LogPiece<Answer>>>(pieces(log, std::move(stop)));
            const bool more = *piece && (*piece)->more;
            if (more && !(*piece)->answer) return QuestionThread::Piece{{}, true};
            return QuestionThread::Piece{[slot, key, piece, more] {
                                           if (!(slot->asked_key == key)) return;
                                           slot->pending = more;
                                           slot->take(*piece);
                                         },
                                         more};
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

    void take(Expected<LogPiece<Answer>>& piece) {
      if (!piece) {
        error = piece.error().message();
        return;
      }
      if (piece->answer) answer = std::make_unique<Answer>(std::move(*piece->answer));
      error.clear();
    }
  };
  std::string name_;
  uint64_t opened_ = 0;  // Model::last_opened() of the slot
  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

}  // namespace hostir::gui
