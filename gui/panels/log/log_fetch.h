// Log queries from a panel: one outstanding query at a time; the last answer is shown until a
// newer one arrives.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gui/tree/panel.h"

namespace hostir::gui {

/// One piece of a long query: partial results, if they are to be shown, and whether there is
/// more to do.
template <class Answer>
struct LogPiece {
  std::optional<Answer> answer;
  bool more = false;
};

/// The answer to a query that depends on `Key` (what is visible, filters, the model's
/// generation). `get` asks again when the key changes; the last answer stays until then. The slot
/// is shared with the worker, so a panel may be destroyed while a query runs.
template <class Key, class Answer>
class LogFetch {
 public:
  explicit LogFetch(std::string name) : name_(std::move(name)) {}

  using Query = std::function<Expected<Answer>(const interp::LogView&, std::stop_token)>;

  /// Null until the first answer. Log errors are in `error()`.
  const Answer* get(Model& model, const Key& key, Query query) {
    return get_in_pieces(
        model, key,
        [query = std::move(query)](const interp::LogView& log,
                                   std::stop_token stop) -> Expected<LogPiece<Answer>> {
          HOSTIR_ASSIGN_OR_RETURN(Answer answer, query(log, std::move(stop)));
          return LogPiece<Answer>{std::move(answer), false};
        });
  }

  /// The same for queries that scan the whole log. `pieces` is called until there is no more,
  /// with other queries in between; each partial answer is shown until the next.
  using Pieces = std::function<Expected<LogPiece<Answer>>(const interp::LogView&, std::stop_token)>;
  const Answer* get_in_pieces(Model& model, const Key& key, Pieces pieces) {
    // Drop answers about another log: its ranks and instructions may differ.
    if (std::exchange(opened_, model.last_opened()) != model.last_opened())
      slot_ = std::make_shared<Slot>();
    if (!slot_->asked || !(slot_->asked_key == key)) {
      slot_->asked = true;
      slot_->asked_key = key;
      slot_->pending = true;
      auto slot = slot_;
      model.worker().query_log_in_pieces(
          name_, [slot, key, pieces = std::move(pieces)](const interp::LogView& log,
                                                         std::stop_token stop) {
            auto piece = std::make_shared<Expected<LogPiece<Answer>>>(pieces(log, std::move(stop)));
            const bool more = *piece && (*piece)->more;
            if (more && !(*piece)->answer) return QueryThread::Piece{{}, true};
            return QueryThread::Piece{[slot, key, piece, more] {
                                        if (!(slot->asked_key == key)) return;
                                        slot->pending = more;
                                        slot->take(*piece);
                                      },
                                      more};
          });
    }
    return slot_->answer.get();
  }
  /// The newest answer about the open log, for any key. Do not keep the pointer across frames: a
  /// new answer replaces the old one.
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
  uint64_t opened_ = 0;  // Model::last_opened() when the slot was made
  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

}  // namespace hostir::gui
