// Compares the open run (B) with another one (A).
//
// A is a kept run, whose session stays alive here, or another log. Reading, comparing and
// re-running happen on two threads, one for short tasks and one for long ones; the window's thread
// submits queries and collects answers in `update`. Call the public functions only from the
// window's thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gui/compare/diff_view.h"
#include "gui/panels/history/history_data.h"
#include "gui/state/worker.h"

namespace hostir::gui {

class Model;

/// The contents of one row on both sides.
struct DiffContents {
  uint32_t row = interp::kNoWrite;
  Tensor a;
  Tensor b;
  Box box;  // the rank's box, in global coordinates
  interp::WriteDifference difference;
};

/// How the inputs of a row compare between the two runs.
struct DiffSources {
  uint32_t row = interp::kNoWrite;
  std::string sentence;
  std::optional<uint32_t> cause;  // the first input that differs
};

class Comparison {
 public:
  Comparison(const interp::SessionFactory& factory, std::function<void()> wake);
  ~Comparison();

  /// Call once per frame; returns true if an answer arrived. Starts work only if the comparison was
  /// shown in the previous frame.
  bool update(Model& model);
  /// Call in each frame that shows the comparison.
  void set_shown() { shown_ = true; }
  /// Why the open run cannot be kept; empty if it can.
  static std::string why_not_keep(Model& model);
  bool busy() const;

  // ---- the other run
  /// Makes the open run A, up to its current position.
  void keep(Model& model);
  /// Makes a log A.
  void open(const std::string& path);
  void close();
  /// Cancels reading and re-running; what is shown stays.
  void cancel();
  /// Retries what was cancelled or failed.
  void again();
  bool active() const { return state_->wanted; }
  const std::string& name_a() const { return state_->name; }
  const std::vector<std::string>& recent() const { return recent_; }
  void set_recent(std::vector<std::string> recent) { recent_ = std::move(recent); }
  /// Why there is nothing to show; empty if there is no error.
  const std::string& error() const { return state_->error; }
  /// Progress text, such as "reading A, 12000 of 50000 writes"; empty when idle.
  std::string doing() const;

  // ---- results
  /// Null until both runs were compared.
  const DiffView* view() const { return state_->view.get(); }
  /// The latest comparison, which `view` catches up with. Null if there is none yet.
  const interp::RunDiff* newest() const { return state_->diff.get(); }
  void set_limits(interp::DiffLimits limits) { state_->limits = limits; }
  const interp::DiffLimits& limits() const { return state_->limits; }
  void show_only_different(bool on) { state_->only_different = on; }
  bool only_different() const { return state_->only_different; }

  // ---- numbers and contents, by running both again
  /// Divergent rows whose numbers could be measured but have not been.
  size_t unmeasured() const { return state_->unmeasured; }
  void measure_all();
  const std::string& measure_error() const { return state_->measure_error; }
  bool measuring() const { return state_->measuring; }

  // ---- the selected row
  std::optional<uint32_t> selected() const { return state_->selected; }
  const DiffContents* contents() const;
  std::shared_ptr<const DiffContents> shared_contents() const { return state_->contents; }
  /// True if the runs are too long to compute the selected row's contents without being asked.
  bool must_ask() const;
  void ask_contents();
  const DiffSources* sources() const;

  /// Ctrl+F8: goes to the first divergence, then to each next one.
  void next_divergence(Model& model);
  /// Selects a row, and selects its instruction and tensor in the model.
  void go_to(Model& model, uint32_t row);
  bool swapped = false;  // pictures show B in A's place

  /// Runs `work` on the quick thread and its answer on the window's thread.
  void ask_quick(const std::string& name, QueryThread::Work work) {
    quick_.ask(name, std::move(work));
  }

 private:
  struct State {
    bool wanted = false;
    bool go_next = false;  // go to the next divergence once the comparison is up to date
    std::string name;
    std::string error;
    std::function<void()> read_a;  // to retry reading A
    interp::DiffSide a;
    std::shared_ptr<const interp::RunDiff> diff;
    std::shared_ptr<const DiffNumbers> numbers = std::make_shared<DiffNumbers>();
    std::shared_ptr<const DiffView> view;
    interp::DiffLimits limits;
    bool only_different = true;
    bool reading_a = false;
    bool comparing = false;
    bool making_view = false;
    bool measuring = false;
    bool measured = false;  // the automatic measurements are done
    bool asking_contents = false;
    bool asking_sources = false;
    uint64_t compared = ~uint64_t{0};  // model generation of the last comparison
    uint64_t log_generation = 0;       // generation of B's log at the last comparison
    const void* log = nullptr;
    bool finished = false;
    size_t unmeasured = 0;
    std::string measure_error;
    std::optional<uint32_t> selected;
    uint32_t selected_a = interp::kNoWrite;  // its write in A: survives a re-read of B
    std::shared_ptr<const DiffContents> contents;
    uint32_t failed_contents = interp::kNoWrite;  // the row whose contents could not be computed
    std::shared_ptr<const DiffSources> sources;
    std::shared_ptr<interp::DiffProgress> progress = std::make_shared<interp::DiffProgress>();
  };
  /// True if the view belongs to the newest comparison, so row numbers agree.
  bool is_current() const { return state_->view && state_->view->diff == state_->diff; }
  void publish(std::function<void()> answer);
  void keep_session(std::shared_ptr<interp::Session> session, interp::RunLimit limit, bool finished,
                    const std::string& name);
  void restart(std::string name);
  void call_off();
  void compare(Model& model);
  void make_view();
  void ask_sources();
  bool is_short() const;
  bool is_finished(Model& model);

  const interp::SessionFactory& factory_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<std::function<void()>> inbox_;
  std::vector<std::string> recent_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool shown_ = false;
  uint64_t ended_opened_ = 0;  // opening counter when the open run was last seen at its end
  interp::Position ended_at_;
  QueryThread quick_;
  QueryThread slow_;
};

/// Finds what the write of a row read, and which of these inputs differed first. Empty if B's
/// program is not known.
Expected<DiffSources> find_diff_sources(const DiffView& view, uint32_t row,
                                        const std::stop_token& stop);

}  // namespace hostir::gui
