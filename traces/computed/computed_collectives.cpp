// The table `collectives`: reads every member once, on several threads, and sorts meetings only.
//
// A send and its recv are one meeting. The members of a `group { }` have one start and one end:
// each gets a share of that time in proportion to its bytes on the wire.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "hostir/support/hash.h"
#include "hostir/support/usable_cores.h"
#include "traces/computed/computed_tables.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::LogCell;

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
constexpr double kNoRate = std::numeric_limits<double>::infinity();

// A row of `collective_site`.
struct CollectiveSiteRow {
  std::string kind;
  LogCell reduction;
  LogCell dtype;
  int64_t element_bytes = kNone;
  int64_t count_parts = 1;
  int64_t group = kNone;
  int64_t members = kNone;
  double bus_factor = 1;
  int64_t group_instruction = kNone;
};

/// The tables that the rows of members refer to. They are read once.
struct CollectiveSites {
  int64_t rank_count = 0;
  std::map<std::pair<int64_t, int64_t>, CollectiveSiteRow> all;  // by instruction and rank
  std::vector<const CollectiveSiteRow*> quick;                   // instruction * rank_count + rank
  std::map<std::pair<int64_t, int64_t>, int64_t> positions;      // by communicator and rank

  const CollectiveSiteRow* find(int64_t instruction, int64_t rank) const {
    if (rank < 0 || rank >= rank_count || instruction < 0) return nullptr;
    const auto at = static_cast<size_t>(instruction * rank_count + rank);
    return at < quick.size() ? quick[at] : nullptr;
  }
};

struct ListedMeeting {
  int64_t communicator = 0;
  int64_t group = 0;
  int64_t sequence = 0;
  int64_t source = -1;  // positions of a send and its recv
  int64_t destination = -1;
  friend bool operator==(const ListedMeeting&, const ListedMeeting&) = default;
};

struct MeetingHash {
  size_t operator()(const ListedMeeting& key) const {
    const std::array parts{key.communicator, key.group, key.sequence, key.source, key.destination};
    return hash_of(std::as_bytes(std::span(parts)));
  }
};

void take_least(int64_t& least, int64_t value) {
  if (value != kNone && (least == kNone || value < least)) least = value;
}
void take_most(int64_t& most, int64_t value) { most = std::max(most, value); }

struct Meeting {
  ListedMeeting key;
  const CollectiveSiteRow* site = nullptr;  // of the first member; nullptr: not in the log
  int64_t event = 0;
  int64_t bytes = kNone;
  int64_t arrived = 0;
  int64_t first_arrival_ns = kNone;
  int64_t last_arrival_ns = kNone;
  int64_t start_ns = kNone;
  int64_t finish_ns = kNone;
  int64_t instruction = kNone;        // the one with the least address
  int64_t group_instruction = kNone;  // likewise
  double share = 1;
  double algbw = kNoRate;
  double busbw = kNoRate;

  void join(const Meeting& later) {
    arrived += later.arrived;
    take_least(first_arrival_ns, later.first_arrival_ns);
    take_most(last_arrival_ns, later.last_arrival_ns);
    take_least(start_ns, later.start_ns);
    take_most(finish_ns, later.finish_ns);
    algbw = std::min(algbw, later.algbw);
    busbw = std::min(busbw, later.busbw);
  }
};

/// A member of a `group { }`: its share is known once all have been read.
struct GroupedMember {
  size_t meeting = 0;
  int64_t rank = 0;
  int64_t start_ns = kNone;
  const CollectiveSiteRow* site = nullptr;
  int64_t bytes = 0;
  double algbw = kNoRate;
  double busbw = kNoRate;

  double wire() const { return static_cast<double>(bytes) * site->bus_factor; }
};

int64_t integer_of(const Statement& row, int column) { return row.integer_or(column, kNone); }

class Meetings {
 public:
  Meetings(const LogReader& log, const CollectiveSites& sites) : log_(&log), sites_(&sites) {}

  void add(const Statement& row) {
    const int64_t event = row.integer(0);
    if (!log_->shows(event)) return;
    const int64_t rank = row.integer(1);
    const int64_t instruction = row.integer(2);
    const CollectiveSiteRow* site = sites_->find(instruction, rank);
    Meeting one;
    one.key = {row.integer(3), site ? site->group : kNone, row.integer(4)};
    if (!row.is_null(5)) {
      const auto at = sites_->positions.find({one.key.communicator, rank});
      one.key.source = at == sites_->positions.end() ? kNone : at->second;
      one.key.destination = row.integer(5);
      if (!site || site->kind != "send") std::swap(one.key.source, one.key.destination);
    }
    one.site = site;
    one.event = event;
    one.arrived = 1;
    one.bytes = integer_of(row, 6);
    one.first_arrival_ns = one.last_arrival_ns = integer_of(row, 7);
    one.start_ns = integer_of(row, 8);
    one.finish_ns = integer_of(row, 9);
    one.instruction = instruction;
    one.group_instruction = site ? site->group_instruction : kNone;
    if (one.group_instruction == kNone) {
      one.algbw = rate(one, 1);
      one.busbw = site ? rate(one, site->bus_factor) : kNoRate;
      join(one);
      return;
    }
    grouped_.push_back({join(one), rank, one.start_ns, site, std::max<int64_t>(one.bytes, 0),
                        rate(one, 1), rate(one, site->bus_factor)});
  }

  /// Adds the members that were read after these.
  void append(const Meetings& later) {
    std::vector<size_t> places;
    if (!later.grouped_.empty()) places.reserve(later.all_.size());
    for (const Meeting& meeting : later.all_) {
      const size_t at = join(meeting);
      if (!later.grouped_.empty()) places.push_back(at);
    }
    for (GroupedMember member : later.grouped_) {
      member.meeting = places[member.meeting];
      grouped_.push_back(member);
    }
  }

  /// Returns the meetings in the order of their starts.
  std::vector<Meeting> take() {
    by_key_ = {};
    share_groups();
    std::sort(all_.begin(), all_.end(), [](const Meeting& a, const Meeting& b) {
      const auto order = [](const Meeting& m) {
        return std::tie(m.start_ns, m.key.communicator, m.key.group, m.key.sequence, m.event);
      };
      return order(a) < order(b);
    });
    return std::move(all_);
  }

 private:
  static double rate(const Meeting& one, double factor) {
    const bool timed = one.finish_ns != kNone && one.start_ns != kNone &&
                       one.finish_ns != one.start_ns && one.bytes != kNone;
    if (!timed) return kNoRate;
    return static_cast<double>(one.bytes) * 1e9 * factor /
           static_cast<double>(one.finish_ns - one.start_ns);
  }

  size_t join(const Meeting& one) {
    if (last_ < all_.size() && all_[last_].key == one.key) {
      join_into(all_[last_], one);
      return last_;
    }
    const auto [at, is_new] = by_key_.try_emplace(one.key, all_.size());
    last_ = at->second;
    if (is_new) {
      all_.push_back(one);
    } else {
      join_into(all_[last_], one);
    }
    return last_;
  }

  void join_into(Meeting& meeting, const Meeting& one) const {
    meeting.join(one);
    take_address(meeting.instruction, one.instruction);
    take_address(meeting.group_instruction, one.group_instruction);
  }

  void take_address(int64_t& least, int64_t instruction) const {
    if (instruction == kNone || instruction == least) return;
    const auto address = [this](int64_t i) {
      const auto& all = log_->instructions();
      return i >= 0 && static_cast<size_t>(i) < all.size() ? all[static_cast<size_t>(i)].address
                                                           : std::string();
    };
    if (least == kNone || address(instruction) < address(least)) least = instruction;
  }

  void share_groups() {
    using GroupTime = std::tuple<int64_t, int64_t, int64_t>;  // rank, group, start
    std::map<GroupTime, double> wires;
    for (const GroupedMember& m : grouped_)
      wires[{m.rank, m.site->group_instruction, m.start_ns}] += m.wire();
    for (Meeting& meeting : all_) {
      if (meeting.group_instruction != kNone) meeting.share = std::numeric_limits<double>::max();
    }
    for (const GroupedMember& m : grouped_) {
      const double all = wires[{m.rank, m.site->group_instruction, m.start_ns}];
      const double share = m.start_ns == kNone || all == 0 ? 1 : m.wire() / all;
      Meeting& meeting = all_[m.meeting];
      meeting.share = std::min(meeting.share, share);
      if (share == 0) continue;
      meeting.algbw = std::min(meeting.algbw, m.algbw / share);
      meeting.busbw = std::min(meeting.busbw, m.busbw / share);
    }
  }

  const LogReader* log_;
  const CollectiveSites* sites_;
  std::vector<Meeting> all_;
  std::unordered_map<ListedMeeting, size_t, MeetingHash> by_key_;
  std::vector<GroupedMember> grouped_;
  size_t last_ = 0;  // members of a meeting are often neighbours
};

LogCell text_or_null(const Statement& row, int column) {
  return row.is_null(column) ? LogCell() : LogCell(row.text(column));
}

Expected<CollectiveSites> read_sites(const LogReader& log, Database& database) {
  CollectiveSites sites;
  sites.rank_count = log.run().rank_count;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT instruction, rank, kind, reduction, dtype, element_bytes, "
                       "count_parts, group_index, member_count, bus_factor, group_instruction "
                       "FROM collective_site"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) break;
    CollectiveSiteRow site;
    site.kind = rows.text(2);
    site.reduction = text_or_null(rows, 3);
    site.dtype = text_or_null(rows, 4);
    site.element_bytes = integer_of(rows, 5);
    site.count_parts = rows.integer_or(6, 0);
    site.group = integer_of(rows, 7);
    site.members = integer_of(rows, 8);
    site.bus_factor = rows.real(9);
    site.group_instruction = integer_of(rows, 10);
    sites.all.insert_or_assign({rows.integer(0), rows.integer(1)}, std::move(site));
  }
  sites.quick.resize(log.instructions().size() * static_cast<size_t>(sites.rank_count));
  for (const auto& [place, site] : sites.all) {
    const auto [instruction, rank] = place;
    const bool valid = rank >= 0 && rank < sites.rank_count && instruction >= 0 &&
                       static_cast<size_t>(instruction) < log.instructions().size();
    if (valid) sites.quick[static_cast<size_t>(instruction * sites.rank_count + rank)] = &site;
  }
  HOSTIR_ASSIGN_OR_RETURN(
      Statement members,
      database.prepare("SELECT communicator, rank, position FROM communicator_member"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, members.step());
    if (!more) return sites;
    sites.positions[{members.integer(0), members.integer(1)}] = members.integer(2);
  }
}

struct EventIds {
  int64_t first = 0;
  int64_t last = -1;
};

class MemberReading {
 public:
  MemberReading(const LogReader& log, const CollectiveSites& sites, std::stop_token stop)
      : log_(&log), sites_(&sites), stop_(std::move(stop)) {}

  Expected<Meetings> read(EventIds all) {
    constexpr int64_t kMostThreads = 8;
    constexpr int64_t kFewestIds = 65536;  // fewer are not worth a thread
    const int64_t ids = all.last - all.first + 1;
    total_ = ids;
    const int64_t threads =
        std::clamp<int64_t>(std::min<int64_t>(usable_cores(), ids / kFewestIds), 1, kMostThreads);
    std::vector<std::optional<Expected<Meetings>>> parts(static_cast<size_t>(threads));
    {
      std::vector<std::jthread> readers;
      for (int64_t i = 0; i < threads; ++i) {
        const EventIds part{all.first + ids / threads * i,
                            i + 1 == threads ? all.last : all.first + ids / threads * (i + 1) - 1};
        auto& out = parts[static_cast<size_t>(i)];
        readers.emplace_back([this, part, &out] { out = read_part(part); });
      }
    }
    Meetings first(*log_, *sites_);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!*parts[i]) return tl::unexpected(parts[i]->error());
      if (i == 0) {
        first = std::move(**parts[i]);
      } else {
        first.append(**parts[i]);
      }
      parts[i].reset();
    }
    return first;
  }

 private:
  Expected<Meetings> read_part(EventIds ids) {
    HOSTIR_ASSIGN_OR_RETURN(const auto connection, log_->connect(stop_));
    HOSTIR_ASSIGN_OR_RETURN(
        Statement rows,
        connection->prepare("SELECT event, rank, instruction, communicator, sequence, peer, bytes, "
                            "arrival_ns, start_ns, finish_ns FROM collective_row "
                            "WHERE event BETWEEN ?1 AND ?2 ORDER BY event"));
    rows.bind_int(1, ids.first);
    rows.bind_int(2, ids.last);
    Meetings meetings(*log_, *sites_);
    int64_t reported = ids.first;
    constexpr int64_t kReportEvery = 65536;
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
      if (!more) return meetings;
      meetings.add(rows);
      const int64_t past = rows.integer(0) - reported;
      if (past < kReportEvery) continue;
      reported += past;
      log_->report_progress(read_ += past, total_);
    }
  }

  const LogReader* log_;
  const CollectiveSites* sites_;
  std::stop_token stop_;
  std::atomic<int64_t> read_ = 0;
  int64_t total_ = 0;
};

LogCell number_or_null(int64_t value) { return value == kNone ? LogCell() : LogCell(value); }
LogCell rate_or_null(double value) { return std::isfinite(value) ? LogCell(value) : LogCell(); }

LogCell count_of(const Meeting& m) {
  if (!m.site || m.bytes == kNone || m.site->element_bytes <= 0 || m.site->count_parts <= 0)
    return {};
  return m.bytes / m.site->element_bytes / m.site->count_parts;
}

LogCell duration_of(const Meeting& m) {
  if (m.start_ns == kNone || m.finish_ns == kNone) return {};
  return static_cast<int64_t>(
      std::llround(static_cast<double>(m.finish_ns - m.start_ns) * m.share));
}

LogCell address_of(const LogReader& log, int64_t instruction) {
  if (instruction < 0 || static_cast<size_t>(instruction) >= log.instructions().size()) return {};
  return log.instructions()[static_cast<size_t>(instruction)].address;
}

LogCell communicator_of(const LogReader& log, const Meeting& m) {
  const auto& all = log.communicators();
  if (m.key.communicator < 0 || static_cast<size_t>(m.key.communicator) >= all.size()) return {};
  return all[static_cast<size_t>(m.key.communicator)].name;
}

using MeetingCell = LogCell (*)(const LogReader& log, const Meeting& m);

// In the order of the table's columns.
constexpr MeetingCell kMeetingCells[] = {
    [](const LogReader&, const Meeting& m) { return LogCell(m.event); },
    communicator_of,
    [](const LogReader&, const Meeting& m) { return number_or_null(m.key.group); },
    [](const LogReader&, const Meeting& m) { return LogCell(m.key.sequence); },
    [](const LogReader&, const Meeting& m) {
      if (m.key.source != -1) return LogCell(std::string("send/recv"));
      return m.site ? LogCell(m.site->kind) : LogCell();
    },
    [](const LogReader&, const Meeting& m) { return m.site ? m.site->reduction : LogCell(); },
    [](const LogReader&, const Meeting& m) { return m.site ? m.site->dtype : LogCell(); },
    [](const LogReader&, const Meeting& m) { return count_of(m); },
    [](const LogReader&, const Meeting& m) { return number_or_null(m.bytes); },
    [](const LogReader&, const Meeting& m) { return LogCell(m.arrived); },
    [](const LogReader&, const Meeting& m) {
      if (m.key.source != -1) return LogCell(int64_t{2});
      return m.site ? number_or_null(m.site->members) : LogCell();
    },
    [](const LogReader&, const Meeting& m) { return number_or_null(m.first_arrival_ns); },
    [](const LogReader&, const Meeting& m) { return number_or_null(m.last_arrival_ns); },
    [](const LogReader&, const Meeting& m) {
      return m.first_arrival_ns == kNone ? LogCell()
                                         : LogCell(m.last_arrival_ns - m.first_arrival_ns);
    },
    [](const LogReader&, const Meeting& m) { return number_or_null(m.start_ns); },
    [](const LogReader&, const Meeting& m) { return number_or_null(m.finish_ns); },
    [](const LogReader&, const Meeting& m) { return duration_of(m); },
    [](const LogReader&, const Meeting& m) { return rate_or_null(m.algbw); },
    [](const LogReader&, const Meeting& m) { return rate_or_null(m.busbw); },
    [](const LogReader& log, const Meeting& m) { return address_of(log, m.instruction); },
    [](const LogReader& log, const Meeting& m) { return address_of(log, m.group_instruction); },
};

}  // namespace

Expected<ComputedRows> collectives(const LogReader& log, const std::stop_token& stop) {
  CollectiveSites sites;
  EventIds ids;
  {
    HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect(stop));
    HOSTIR_ASSIGN_OR_RETURN(sites, read_sites(log, *connection));
    HOSTIR_ASSIGN_OR_RETURN(const auto first,
                            connection->query_int("SELECT MIN(event) FROM collective_row"));
    HOSTIR_ASSIGN_OR_RETURN(const auto last,
                            connection->query_int("SELECT MAX(event) FROM collective_row"));
    if (!first || !last) return ComputedRows();
    // A damaged file may contain anything; the number of ids must not overflow.
    ids = {std::max<int64_t>(*first, 0),
           std::min<int64_t>(*last, std::numeric_limits<int64_t>::max() / 2)};
  }
  const auto kept = std::make_shared<CollectiveSites>(std::move(sites));
  MemberReading reading(log, *kept, stop);
  HOSTIR_ASSIGN_OR_RETURN(Meetings meetings, reading.read(ids));
  const auto all = std::make_shared<std::vector<Meeting>>(meetings.take());
  return ComputedRows(all->size(), [&log, kept, all](size_t row, size_t column) {
    return kMeetingCells[column](log, (*all)[row]);
  });
}

}  // namespace hostir::traces
