// The window's state: the newest snapshot, the shared selection, readings and messages.
//
// Panels read the model and change only the selection and their own view state; everything else
// goes through `run_command`. The worker's results are taken in once per frame. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/compare/comparison.h"
#include "gui/files/document.h"
#include "gui/state/readings.h"
#include "gui/state/tensor_index.h"
#include "gui/state/what_if_search.h"
#include "gui/state/worker.h"
#include "interp/session/session.h"

namespace hostir::gui {

/// Identifies one collective. Each group of a communicator numbers its collectives separately, and
/// so does each pair of ranks for its messages.
struct CollectiveId {
  interp::CommIndex comm = 0;
  uint32_t group = 0;
  uint64_t sequence = 0;
  // the two ranks of a send and its recv
  std::optional<std::pair<interp::Rank, interp::Rank>> pair;
  friend bool operator==(const CollectiveId&, const CollectiveId&) = default;
};

/// What is selected or hovered, shared by all panels. Empty parts are not selected.
struct Selection {
  std::optional<interp::Rank> rank;
  std::optional<interp::CodeIndex> code;
  std::string value;             // without '%'
  std::vector<int64_t> element;  // global index in `value`
  std::optional<CollectiveId> collective;
  int64_t event = -1;                      // id in the log
  std::vector<interp::CodeIndex> related;  // from the same fusion instruction as `code`
  friend bool operator==(const Selection&, const Selection&) = default;
};

/// The value that panels show while the user has not chosen one (gui/panels/values/tensor_pick.h).
struct FollowedValue {
  bool on = true;
  std::string value;  // without '%'
  uint64_t generation = ~uint64_t{0};
};

struct Message {
  enum class Kind : uint8_t { kInfo, kGood, kWarning, kError, kLog } kind = Kind::kInfo;
  std::string text;
  double time_s = 0;
  std::optional<interp::LogLine> line;  // kLog lines of the open run: their origin
};

/// A named position to return to.
struct Bookmark {
  uint64_t decision = 0;
  std::string text;
  friend bool operator==(const Bookmark&, const Bookmark&) = default;
};

/// A note that the user wrote on the timeline.
struct TimelineNote {
  int64_t time_ns = 0;
  std::string text;
  friend bool operator==(const TimelineNote&, const TimelineNote&) = default;
};

/// Find in the text of a panel (Ctrl+F), or go to the next (+1) or previous (-1) place.
struct FindRequest {
  std::string panel;  // its id
  int step = 0;       // 0: open the line
};

/// Something to write to a file whose name the user chooses.
struct ExportRequest {
  std::string name;  // proposed
  /// nullopt: the result is reported later (App::wrote).
  std::function<std::optional<Expected<void>>(const std::string& path)> write;
  bool replaces = true;  // false: `write` itself refuses a file that exists
};

class Model {
 public:
  Model(interp::SessionFactory& factory, const std::function<void()>& wake);

  /// Takes in the worker's results; true if anything changed.
  bool update(double now_s);

  // ---- the session
  SessionWorker& worker() { return worker_; }
  const interp::SnapshotPtr& snapshot() const { return snapshot_; }  // null before the first opens
  /// The ledger row that ended the run; null if none did. Looked up once per snapshot.
  const interp::LedgerRow* mismatch() const { return mismatch_; }
  /// Ranks that have issued a call for that row; ranks that disagree with the majority come first.
  const std::vector<interp::Rank>& mismatch_ranks() const { return mismatch_ranks_; }
  bool running() const { return worker_.state() == WorkerState::kRunning; }
  bool opening() const { return worker_.state() == WorkerState::kOpening; }
  const std::string& path() const { return path_; }
  /// The rendered diagnostics of the last failed opening; empty if it succeeded.
  const std::string& open_error() const { return open_error_; }
  /// A warning about what is open, for example a truncated log. Empty if there is none.
  const std::string& open_warning() const { return open_warning_; }
  /// Where in the text of `last_request` the diagnostics point; empty if they name no place.
  const std::vector<TextMark>& open_marks() const { return open_marks_; }
  /// Opens in the background, then runs the commands (to return to the same place after an edit).
  void open(interp::OpenRequest request, std::vector<std::string> then = {});
  const interp::OpenRequest& last_request() const { return last_request_; }
  void run_command(const std::string& text);
  /// Why the last command failed; empty if it succeeded.
  const std::string& command_error() const { return command_error_; }

  /// Adds a message that the status bar shows, too: for some seconds, or until the next command or
  /// file.
  void notify(Message::Kind kind, std::string text);
  /// Null if there is none.
  const Message* notice() const;

  /// Compares the open run with another one.
  Comparison& comparison() { return comparison_; }
  /// Searches for small edits that let a hanging run complete.
  WhatIfSearch& what_if() { return what_if_; }
  const WhatIfSearch& what_if() const { return what_if_; }

  // ---- values
  /// The reading of a value at the current position; requests it if there is none. Returns an older
  /// reading, marked `pending`, until the new one arrives. Valid until the next `update`.
  const ReadingSlot& reading(const interp::ValueQuery& query);
  /// The reading before the last move, for "changed since the last stop"; may be null.
  ReadingPtr previous_reading(const interp::ValueQuery& query) const {
    return readings_.before(query);
  }
  const Readings& readings() const { return readings_; }
  /// Where a tensor is at the current position. Valid until the next `update`.
  const TensorView& tensor(const std::string& name) { return tensors_.find(snapshot_, name); }
  const TensorIndex& tensors() const { return tensors_; }

  // ---- selection
  Selection selection;
  Selection hovered;  // in this frame; panels read the previous frame's value from `was_hovered`
  Selection was_hovered;
  FollowedValue followed;
  // The stretch of time marked in the timeline, in ns; Statistics can be limited to it.
  std::optional<std::pair<int64_t, int64_t>> timeline_range;

  // ---- wishes of panels and actions, taken by the panel concerned or the window
  std::optional<FindRequest> find_wish;
  std::optional<ExportRequest> export_wish;

  // ---- kept per program in the settings
  std::vector<std::string> watches;  // expressions of the watches panel
  std::vector<Bookmark> bookmarks;   // in order of position
  std::vector<TimelineNote> timeline_notes;

  /// The editable text of the program that was last opened, successfully or not.
  Document& document() { return document_; }
  const Document& document() const { return document_; }
  /// The file's contents when it was opened, or the text that was opened instead of them; nullopt
  /// if there is no such text (a log).
  std::optional<std::string_view> opened_text() const;
  /// True if the run uses an edited text instead of the file's contents.
  bool runs_edited_text() const { return !opened_request_.text.empty(); }

  // ---- messages
  const std::vector<Message>& messages() const { return messages_; }
  void add_message(Message::Kind kind, std::string text);

  /// True if the open log was being written by another process when it was last looked at.
  bool follows_log() const { return follows_; }
  /// True if another process has added to the open log since the last `update`, or has ended it.
  /// Always false for a live run, whose snapshots say the same.
  bool log_grew() const {
    return !document_.is_program() && worker_.followed_generation() != seen_log_;
  }

  /// Incremented per snapshot: changes when the position or anything shown changes.
  uint64_t generation() const { return generation_; }
  /// Incremented per opening: for data that depends only on the program and the fixed parts of the
  /// log.
  uint64_t last_opened() const { return opened_; }
  double now_s() const { return now_s_; }

 private:
  void take(Opened& result);
  /// Shows a recorded run at its end, where its outcome is, unless that takes long.
  void go_to_outcome();
  /// Follows a log that is being written. When its writer ends, opens the log again at its outcome.
  void follow_log();
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
  interp::OpenRequest opened_request_;  // for what is open now
  std::vector<std::string> after_open_;
  std::string command_error_;
  std::optional<Message> notice_;
  Readings readings_;
  TensorIndex tensors_;
  std::vector<Message> messages_;
  uint64_t generation_ = 0;
  uint64_t seen_log_ = 0;  // SessionWorker::followed_generation
  bool follows_ = false;
  bool asks_to_follow_ = false;
  double followed_s_ = 0;     // when it was last asked
  double follow_cost_s_ = 0;  // how long the answer took
  uint64_t opened_ = 0;
  double now_s_ = 0;
  SessionWorker worker_;
  Comparison comparison_;
  WhatIfSearch what_if_;
  Document document_;
};

}  // namespace hostir::gui
