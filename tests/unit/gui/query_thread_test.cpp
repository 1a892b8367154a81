// Long queries are answered in pieces, so that others do not have to wait.
#include "gui/state/query_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gui/panels/log/event_scan.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

// A thread whose answers record their own names.
class Asked {
 public:
  Asked()
      : thread_([this](const QueryThread::Answer& answer) {
          const std::lock_guard lock(mutex_);
          answer();
        }) {}

  QueryThread& thread() { return thread_; }
  QueryThread::Answer named(const std::string& name) {
    return [this, name] { order_ += name + " "; };
  }
  /// The answers' names, in the order of arrival.
  std::string order() {
    while (thread_.busy()) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  std::mutex mutex_;
  std::string order_;
  QueryThread thread_;
};

TEST(QueryThread, AnswersWhatWaitsBetweenThePiecesOfALongQuestion) {
  Asked asked;
  int pieces = 0;
  asked.thread().ask_in_pieces("scan", [&](const std::stop_token&) {
    const std::string n = std::to_string(++pieces);
    if (pieces <= 2) {
      asked.thread().ask("lanes", [&, n](const std::stop_token&) { return asked.named("l" + n); });
    }
    return QueryThread::Piece{asked.named("s" + n), pieces < 4};
  });
  EXPECT_EQ(asked.order(), "s1 l1 s2 l2 s3 s4 ");
}

TEST(QueryThread, ANewerQuestionEndsTheOneInPieces) {
  Asked asked;
  int pieces = 0;
  asked.thread().ask_in_pieces("scan", [&](const std::stop_token&) {
    if (++pieces == 2) {
      asked.thread().ask("scan", [&](const std::stop_token&) { return asked.named("newer"); });
    }
    return QueryThread::Piece{asked.named("s" + std::to_string(pieces)), true};
  });
  EXPECT_EQ(asked.order(), "s1 newer ");
  EXPECT_EQ(pieces, 2);
}

TEST(QueryThread, WhatIsCancelledBetweenTwoPiecesDoesNotGoOn) {
  Asked asked;
  int pieces = 0;
  asked.thread().ask_in_pieces("scan", [&](const std::stop_token&) {
    asked.thread().ask("other", [&](const std::stop_token&) {
      asked.thread().cancel("scan");
      return asked.named("other");
    });
    return QueryThread::Piece{asked.named("s" + std::to_string(++pieces)), true};
  });
  EXPECT_EQ(asked.order(), "s1 other ");
}

struct Scanned {
  int pieces = 0;
  int64_t looked_at = 0;
  std::vector<std::vector<int64_t>> shown;  // ids, for each piece with a result
  std::string error;
};

Scanned scan_all(const interp::LogView& log, const EventsKey& key, EventScan::Show show,
                 int64_t piece_events) {
  Scanned out;
  EventScan scan(key, show, piece_events);
  for (bool more = true; more;) {
    auto piece = scan.next(log, {});
    if (!piece) {
      out.error = piece.error().message();
      return out;
    }
    ++out.pieces;
    more = piece->more;
    if (!piece->answer) continue;
    EXPECT_EQ(piece->answer->done, !more);
    EXPECT_GE(piece->answer->looked_at, out.looked_at);
    out.looked_at = piece->answer->looked_at;
    out.shown.emplace_back();
    for (const interp::LogEvent& e : piece->answer->rows->events) out.shown.back().push_back(e.id);
  }
  return out;
}

TEST(EventScan, FindsInPiecesWhatItFindsAtOnce) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until end"));
  const auto session = w.model().worker().session();
  const interp::LogView& log = *session->log();
  const int64_t events = log.extent().event_count;
  ASSERT_GT(events, 20);
  for (const char* filter : {"", "op=all_reduce", "rank=1 -op=launch", "bytes>1G", "id>=9"}) {
    EventsKey key;
    key.filter = filter;
    const Scanned once = scan_all(log, key, EventScan::Show::kWhole, EventPieces::kPieceEvents);
    EXPECT_EQ(once.pieces, 1);
    const Scanned parts = scan_all(log, key, EventScan::Show::kParts, 5);
    EXPECT_GE(parts.pieces, (events - 10) / 5);
    ASSERT_EQ(once.shown.size(), 1u);
    EXPECT_EQ(parts.shown.back(), once.shown.back()) << filter;
    for (size_t i = 1; i < parts.shown.size(); ++i)
      EXPECT_GE(parts.shown[i].size(), parts.shown[i - 1].size());
    const Scanned whole = scan_all(log, key, EventScan::Show::kWhole, 5);
    EXPECT_EQ(whole.shown.size(), 1u);
    EXPECT_EQ(whole.shown.back(), once.shown.back());
  }
  EventsKey key;
  key.sort = EventColumn::kId;
  key.descending = true;
  const Scanned sorted = scan_all(log, key, EventScan::Show::kParts, 5);
  EXPECT_TRUE(std::is_sorted(sorted.shown.back().rbegin(), sorted.shown.back().rend()));
  key.filter = "nonsense=1";
  EXPECT_NE(scan_all(log, key, EventScan::Show::kParts, 5).error.find("nonsense"),
            std::string::npos);
}

TEST(EventScan, EndsWhenItIsCalledOff) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until end"));
  const auto session = w.model().worker().session();
  EventScan scan(EventsKey{}, EventScan::Show::kParts, 5);
  std::stop_source stop;
  ASSERT_TRUE(scan.next(*session->log(), stop.get_token()));
  stop.request_stop();
  EXPECT_FALSE(scan.next(*session->log(), stop.get_token()));
}

}  // namespace
}  // namespace hostir::gui
