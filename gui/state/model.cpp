#include "gui/state/model.h"

#include <algorithm>
#include <utility>

#include "gui/panels/collectives/mismatch_row.h"

namespace hostir::gui {

Model::Model(interp::SessionFactory& factory, const std::function<void()>& wake)
    : factory_(factory), worker_(factory, wake), comparison_(factory, wake) {}

void Model::open(interp::OpenRequest request, std::vector<std::string> then) {
  request.at_outcome = then.empty();
  last_request_ = request;
  open_marks_.clear();  // they belong to another text
  after_open_ = std::move(then);
  worker_.open(std::move(request));
}

std::optional<std::string_view> Model::opened_text() const {
  const auto given = snapshot_ ? snapshot_->program->given.texts : nullptr;
  for (uint32_t file = 0; given && file < given->size(); ++file) {
    if (given->name(file) == path_) return given->text(file);
  }
  return std::nullopt;
}

void Model::run_command(const std::string& text) { worker_.execute(text); }

void Model::add_message(Message::Kind kind, std::string text) {
  constexpr size_t kMaxMessages = 2000;
  if (messages_.size() >= kMaxMessages)
    messages_.erase(messages_.begin(), messages_.begin() + kMaxMessages / 2);
  messages_.push_back({kind, std::move(text), now_s_, std::nullopt});
}

void Model::notify(Message::Kind kind, std::string text) {
  add_message(kind, std::move(text));
  notice_ = messages_.back();
}

const Message* Model::notice() const {
  constexpr double kShownS = 12;
  return notice_ && now_s_ - notice_->time_s < kShownS ? &*notice_ : nullptr;
}

bool Model::update(double now_s) {
  now_s_ = now_s;
  was_hovered = hovered;
  hovered = {};
  // Scrolling through a large tensor requests many parts; drop the old requests.
  worker_.drop_reads(readings_.begin_frame());
  auto results = worker_.drain();
  for (WorkerResult& result : results) {
    std::visit([this](auto& r) { take(r); }, result);
  }
  interp::SnapshotPtr newest = worker_.snapshot();
  if (newest != snapshot_) {
    if (!snapshot_ || !newest || !(newest->position == snapshot_->position)) readings_.moved();
    snapshot_ = std::move(newest);
    mismatch_ = snapshot_ ? mismatch_of(*snapshot_) : nullptr;
    mismatch_ranks_ = mismatch_ ? callers_of(*snapshot_, *mismatch_) : std::vector<interp::Rank>();
    ++generation_;
    comparison_.update(*this);
    return true;
  }
  const bool compared = comparison_.update(*this);
  const bool grew = log_grew();
  if (grew) ++generation_;  // panels ask the log again
  seen_log_ = worker_.followed_generation();
  follow_log();
  return compared || grew || !results.empty();
}

void Model::take(Opened& result) {
  ++generation_;
  if (result.ok && path_ != result.request.path) notice_.reset();
  if (result.cancelled) {
    after_open_.clear();
    last_request_ = opened_request_;
    notify(Message::Kind::kWarning, "opening " + result.request.path + " was cancelled");
    return;
  }
  if (!result.ok) {
    open_error_ = result.error;
    after_open_.clear();
    open_marks_ = std::move(result.marks);
    add_message(Message::Kind::kError,
                "could not open " + result.request.path + "\n" + result.error);
    return;
  }
  ++opened_;
  follows_ = asks_to_follow_ = false;
  follow_cost_s_ = 0;
  timeline_range.reset();
  what_if_.cancel(*this);  // it searches the closed session
  if (path_ != result.request.path) what_if_.forget();
  open_error_.clear();
  open_marks_.clear();
  // Reopening the same file keeps what is selected by name.
  Selection kept;
  if (path_ == result.request.path) {
    kept.value = selection.value;
    kept.element = selection.element;
  }
  path_ = result.request.path;
  opened_request_ = result.request;
  selection = std::move(kept);
  readings_.clear();
  for (Message& m : messages_) m.line.reset();  // they belong to another run
  add_message(Message::Kind::kGood, "opened " + path_);
  open_warning_ = result.warning;
  if (!open_warning_.empty()) add_message(Message::Kind::kWarning, open_warning_);
  if (!result.notice.empty()) add_message(Message::Kind::kInfo, result.notice);
  const bool comes_back = !after_open_.empty();
  for (const std::string& command : std::exchange(after_open_, {})) worker_.execute(command);
  if (!comes_back) go_to_outcome();
}

void Model::follow_log() {
  const bool written_now = !document_.is_program() && worker_.follows_log();
  if (asks_to_follow_ || opening() || running() || (!written_now && !follows_)) return;
  follows_ = follows_ || written_now;
  constexpr double kEveryS = 1;
  constexpr double kSeldomS = 8;  // a long log with much in flight is read in seconds
  const double wait = written_now ? std::clamp(4 * follow_cost_s_, kEveryS, kSeldomS) : kEveryS;
  if (now_s_ - followed_s_ < wait) return;
  followed_s_ = now_s_;
  asks_to_follow_ = true;
  worker_.query_session("follow", [this, opened = opened_, written_now](interp::Session& session) {
    const auto found = session.follow();
    const bool ended = found && *found == interp::FollowedLog::kEnded;
    const bool shows_end = session.snapshot()->from_log || !session.snapshot()->no_stepping.empty();
    return [this, opened, ended, shows_end, written_now] {
      asks_to_follow_ = false;
      follow_cost_s_ = now_s_ - followed_s_;
      if (opened != opened_) return;
      follows_ = written_now && !ended;
      if (!ended) return;
      const std::string text = "the run that wrote " + path_ + " has ended";
      add_message(Message::Kind::kInfo, shows_end ? text : text + "; Ctrl+R shows how");
      if (shows_end) open(opened_request_);
    };
  });
}

// A long log already shows its end (OpenRequest::at_outcome).
void Model::go_to_outcome() {
  const interp::SnapshotPtr shot = worker_.snapshot();
  if (shot && shot->stop.kind == interp::StopKind::kStart && shot->last_decision > 0)
    worker_.execute("goto end");
}

void Model::take(Executed& result) {
  notice_.reset();
  command_error_ = result.ok ? "" : result.error;
  if (!result.ok) {
    add_message(Message::Kind::kError, result.text + ": " + result.error);
    return;
  }
  if (!result.outcome.text.empty())
    add_message(Message::Kind::kInfo, "> " + result.text + "\n" + result.outcome.text);
  take_log(result.outcome);
  if (!result.outcome.ran) return;
  using interp::StopKind;
  const StopKind kind = result.outcome.stop.kind;
  const bool bad = kind == StopKind::kFault || kind == StopKind::kDeadlock;
  add_message(bad ? Message::Kind::kError : Message::Kind::kInfo, result.outcome.stop.sentence);
}

// Log lines belong to positions: lines after `log_from` are removed before the new ones are added.
void Model::take_log(const interp::Outcome& outcome) {
  std::erase_if(messages_,
                [&](const Message& m) { return m.line && m.line->position > outcome.log_from; });
  if (outcome.log_dropped > 0)
    add_message(Message::Kind::kLog, "earlier log point lines that were not kept: " +
                                         std::to_string(outcome.log_dropped));
  for (const interp::LogLine& line : outcome.logged) {
    std::string place = "r" + std::to_string(line.rank);
    if (const interp::SnapshotPtr shot = worker_.snapshot())
      place += " " + shot->program->address(line.code);
    add_message(Message::Kind::kLog, place + ": " + line.text);
    messages_.back().line = line;
  }
}

void Model::take(Read& result) {
  readings_.put(result.key, result.position, std::move(result.reading), std::move(result.error));
}

void Model::take(LogAnswer& result) { result.deliver(); }

const ReadingSlot& Model::reading(const interp::ValueQuery& query) {
  Readings::Entry& entry = readings_.use(query);
  ReadingSlot& slot = entry.slot;
  if (!snapshot_) return slot;
  const bool stale = !entry.asked || (!slot.pending && !(slot.position == snapshot_->position));
  if (stale) {
    entry.asked = true;
    slot.pending = true;
    slot.position = snapshot_->position;
    worker_.read(entry.key, query);
  }
  return slot;
}

}  // namespace hostir::gui
