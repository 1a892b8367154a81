// The run that is open compared with another one: B with A.
//
// A is a run that was kept (its session lives on here) or another log. Everything is read, compared
// and run again on two threads of its own, one for what is short and one for what is not; the
// window's thread asks and takes answers in `update`. Public functions are called by the window's
// thread only.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gui/diff_view.h"
#include "gui/panels/history_data.h"
#include "gui/worker.h"

namespace hostir::gui {

class Model;

/// The contents of one row on both sides.
struct DiffContents {
  uint32_t row = interp::kNoWrite;
  Tensor a;
  Tensor b;
  Box box;  // of the rank, global
  interp::WriteDifference difference;
};

/// What the sources of a row were in both runs.
struct DiffSources {
  uint32_t row = interp::kNoWrite;
  std::string sentence;
  std::optional<uint32_t> cause;  // the first of its sources that differs
};

class Comparison {
 public:
  Comparison(const interp::SessionFactory& factory, std::function<void()> wake);
  ~Comparison();

  /// Each frame; true if anything came. Nothing is asked but where it was shown in the frame
  /// before.
  bool update(Model& model);
  /// Each frame in which somebody can see what came of it.
  void set_shown() { shown_ = true; }
  /// Why the run that is open cannot be kept; empty: it can.
  static std::string why_not_keep(Model& model);
  bool busy() const;

  // ---- the other run
  /// The run that is open becomes A, as far as it has come.
  void keep(Model& model);
  /// A log becomes A.
  void open(const std::string& path);
  void close();
  /// Calls off what is being read or run; what is shown stays.
  void cancel();
  /// After that, or after an error: once more what ended so.
  void again();
  bool active() const { return state_->wanted; }
  const std::string& name_a() const { return state_->name; }
  const std::vector<std::string>& recent() const { return recent_; }
  void set_recent(std::vector<std::string> recent) { recent_ = std::move(recent); }
  /// Why there is nothing to see; empty: nothing is wrong.
  const std::string& error() const { return state_->error; }
  /// What is being done: "reading A, 12000 of 50000 writes"; empty: nothing.
  std::string doing() const;

  // ---- what came of it
  /// Null until both were compared.
  const DiffView* view() const { return state_->view.get(); }
  /// What was compared last; `view` follows it. Null: nothing yet.
  const interp::RunDiff* newest() const { return state_->diff.get(); }
  void set_limits(interp::DiffLimits limits) { state_->limits = limits; }
  const interp::DiffLimits& limits() const { return state_->limits; }
  void show_only_different(bool on) { state_->only_different = on; }
  bool only_different() const { return state_->only_different; }

  // ---- numbers and contents, by running both again
  /// Divergent rows without numbers that could have them.
  size_t unmeasured() const { return state_->unmeasured; }
  void measure_all();
  const std::string& measure_error() const { return state_->measure_error; }
  bool measuring() const { return state_->measuring; }

  // ---- the selected row
  std::optional<uint32_t> selected() const { return state_->selected; }
  const DiffContents* contents() const;
  std::shared_ptr<const DiffContents> shared_contents() const { return state_->contents; }
  /// Contents of the selected row are not asked for by themselves: the runs are long.
  bool must_ask() const;
  void ask_contents();
  const DiffSources* sources() const;

  /// Ctrl+F8: the first divergence, then the next ones.
  void next_divergence(Model& model);
  /// Selects a row, and in the model what it is about.
  void go_to(Model& model, uint32_t row);
  bool swapped = false;  // pictures: B where A was

  /// Runs on the quick thread; `answer` on the window's.
  void ask_quick(const std::string& name, QuestionThread::Work work) {
    quick_.ask(name, std::move(work));
  }

 private:
  struct State {
    bool wanted = false;
    bool go_next = false;  // to the next divergence, as soon as both are compared again
    std::string name;
    std::string error;
    std::function<void()> read_a;  // once more
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
    bool measured = false;  // all that was to be measured unasked
    bool asking_contents = false;
    bool asking_sources = false;
    uint64_t compared = ~uint64_t{0};  // generation of the model
    uint64_t log_generation = 0;       // of B's log, when it was compared
    const void* log = nullptr;
    bool finished = false;
    size_t unmeasured = 0;
    std::string measure_error;
    std::optional<uint32_t> selected;
    uint32_t selected_a = interp::kNoWrite;  // its write in A, which stays when B is read again
    std::shared_ptr<const DiffContents> contents;
    uint32_t failed_contents = interp::kNoWrite;  // the row that could not be had
    std::shared_ptr<const DiffSources> sources;
    std::shared_ptr<interp::DiffProgress> progress = std::make_shared<interp::DiffProgress>();
  };
  /// The view is of the newest comparison: rows mean the same in both.
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
  uint64_t ended_opened_ = 0;  // where the open run was last seen to have ended
  interp::Position ended_at_;
  QuestionThread quick_;
  QuestionThread slow_;
};

/// What a row read, and which of it differed first. Nothing where B's program is not known.
Expected<DiffSources> find_diff_sources(const DiffView& view, uint32_t row,
                                        const std::stop_token& stop);

}  // namespace hostir::gui
