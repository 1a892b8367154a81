// What the window knows: the newest snapshot, the shared selection, readings, messages.
//
// Panels read the model and change nothing but the selection and their own view state; everything
// else goes through `run_command`. The model is fed once per frame from the worker. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/comparison.h"
#include "gui/document.h"
#include "gui/readings.h"
#include "gui/tensor_index.h"
#include "gui/what_if_search.h"
#include "gui/worker.h"
#include "interp/session/session.h"

namespace hostir::gui {

/// What is selected or hovered, shared by all panels. Empty parts are not selected.
/// One meeting: two groups of a communicator count their collectives apart, two ranks their
/// messages.
struct CollectiveId {
  interp::CommIndex comm = 0;
  uint32_t group = 0;
  uint64_t sequence = 0;
  std::optional<std::pair<interp::Rank, interp::Rank>> pair;  // of a send and its recv
  friend bool operator==(const CollectiveId&, const CollectiveId&) = default;
};

struct Selection {
  std::optional<interp::Rank> rank;
  std::optional<interp::CodeIndex> code;
  std::string value;             // without '%'
  std::vector<int64_t> element;  // global index in `value`
  std::optional<CollectiveId> collective;
  int64_t event = -1;                      // id in the log
  std::vector<interp::CodeIndex> related;  // made from the same fusion instruction as `code`
  friend bool operator==(const Selection&, const Selection&) = default;
};

/// The value that panels show while nobody has chosen one (gui/panels/tensor_pick.h).
struct FollowedValue {
  bool on = true;
  std::string value;  // without '%'
  uint64_t generation = ~uint64_t{0};
};

struct Message {
  enum class Kind : uint8_t { kInfo, kGood, kWarning, kError, kLog } kind = Kind::kInfo;
  std::string text;
  double time_s = 0;
  std::optional<interp::LogLine> line;  // kLog, of what is open: where it was written
};

/// A position with a name, to come back to.
struct Bookmark {
  uint64_t decision = 0;
  std::string text;
  friend bool operator==(const Bookmark&, const Bookmark&) = default;
};

/// What a person wrote on the timeline.
struct TimelineNote {
  int64_t time_ns = 0;
  std::string text;
  friend bool operator==(const TimelineNote&, const TimelineNote&) = default;
};

class Model {
 public:
  Model(interp::SessionFactory& factory, const std::function<void()>& wake);

  /// Takes in what the worker has done; true if anything changed.
  bool update(double now_s);

  // ---- the session
  SessionWorker& worker() { return worker_; }
  const interp::SnapshotPtr& snapshot() const { return snapshot_; }  // null before the first opens
  /// The ledger's row that ended the run; null: none did. Looked for once per snapshot.
  const interp::LedgerRow* mismatch() const { return mismatch_; }
  /// Its ranks that have called something; who did not call what most did comes first.
  const std::vector<interp::Rank>& mismatch_ranks() const { return mismatch_ranks_; }
  bool running() const { return worker_.state() == WorkerState::kRunning; }
  bool opening() const { return worker_.state() == WorkerState::kOpening; }
  const std::string& path() const { return path_; }
  /// The rendered diagnostics of the last failed opening; empty if it worked.
  const std::string& open_error() const { return open_error_; }
  /// What is wrong with what is open: a log that was cut. Empty: nothing.
  const std::string& open_warning() const { return open_warning_; }
  /// Where in the text of `last_request` it says so; empty where it names no place.
  const std::vector<TextMark>& open_marks() const { return open_marks_; }
  /// Opens in the background; the commands run once it is open (back to the same place after an
  /// edit).
  void open(interp::OpenRequest request, std::vector<std::string> then = {});
  const interp::OpenRequest& last_request() const { return last_request_; }
  void run_command(const std::string& text);
  /// Why the last command did nothing; empty if it worked.
  const std::string& command_error() const { return command_error_; }

  /// With another run.
  Comparison& comparison() { return comparison_; }
  /// Small edits that let what hangs complete.
  WhatIfSearch& what_if() { return what_if_; }
  const WhatIfSearch& what_if() const { return what_if_; }

  // ---- values
  /// What is known of a value at the current position; asks for it if nothing is. An older reading
  /// is returned (with `pending`) until the new one arrives. Valid until the next `update`.
  const ReadingSlot& reading(const interp::ValueQuery& query);
  /// The reading before the last move, for "changed since the last stop"; may be null.
  ReadingPtr previous_reading(const interp::ValueQuery& query) const {
    return readings_.before(query);
  }
  const Readings& readings() const { return readings_; }
  /// Where a tensor is now; valid until the next `update`.
  const TensorView& tensor(const std::string& name) { return tensors_.find(snapshot_, name); }
  const TensorIndex& tensors() const { return tensors_; }

  // ---- selection
  Selection selection;
  Selection hovered;  // this frame's; panels read the last frame's in `was_hovered`
  Selection was_hovered;
  FollowedValue followed;

  // ---- what is kept per program, by the settings
  std::vector<std::string> watches;  // expressions of the watches panel
  std::vector<Bookmark> bookmarks;   // in order of position
  std::vector<TimelineNote> timeline_notes;

  /// The text of the program that was opened last, or tried to be, as a person edits it.
  Document& document() { return document_; }
  const Document& document() const { return document_; }
  /// What the file held when it was opened, or the text that was opened in its place; nullopt for
  /// what has no such text.
  std::optional<std::string_view> opened_text() const;
  /// What is open runs another text than its file held.
  bool runs_edited_text() const { return !opened_request_.text.empty(); }

  // ---- messages
  const std::vector<Message>& messages() const { return messages_; }
  void add_message(Message::Kind kind, std::string text);

  /// Counts snapshots; changes when the position or anything shown changed.
  uint64_t generation() const { return generation_; }
  /// Counts openings: what only depends on the program and the log's fixed parts.
  uint64_t last_opened() const { return opened_; }
  double now_s() const { return now_s_; }

 private:
  void take(Opened& result);
  void take(Executed& result);
  void take(Read& result);
  void take(LogAnswer& result);
  void take_log(const interp::Outcome& outcome);

  interp::SessionFactory& factory_;
  interp::SnapshotPtr snapshot_;
  const interp::LedgerRow* mismatch_ = nullptr;  // in `snapshot_`
  std::vector<interp::Rank> mismatch_ranks_;
  std::string path_;
  std::string open_error_;
  std::string open_warning_;
  std::vector<TextMark> open_marks_;
  interp::OpenRequest last_request_;
  interp::OpenRequest opened_request_;  // of what is open
  std::vector<std::string> after_open_;
  std::string command_error_;
  Readings readings_;
  TensorIndex tensors_;
  std::vector<Message> messages_;
  uint64_t generation_ = 0;
  uint64_t opened_ = 0;
  double now_s_ = 0;
  SessionWorker worker_;
  Comparison comparison_;
  WhatIfSearch what_if_;
  Document document_;
};

}  // namespace hostir::gui
