// The timeline: the data of all tracks, reduced by the log to what a wide screen can show, and a
// canvas for the script. The ledger and the memory beside it.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hostir/support/text.h"
#include "interp/diagnose/text/sentences.h"
#include "traces/report/html.h"
#include "traces/report/sections.h"

namespace hostir::traces::report {

namespace {

constexpr int32_t kColumns = 1500;
constexpr size_t kMostTracks = 96;

std::string name_of(const interp::LogInstruction& i) {
  if (!i.kernel.empty()) return i.kernel.substr(0, 120);
  if (!i.mnemonic.empty()) return i.mnemonic;
  return i.text.substr(0, 120);
}

int kind_of(const interp::LogInstruction& i) {
  if (i.op_class == OpClass::kCommunication) return 1;
  return i.kernel.empty() ? 2 : 0;
}

/// By rank and stream: begin, end, and 0 (waits for members) or 1 (never finished), as JSON
/// numbers.
using Stalls = std::map<std::pair<int64_t, int64_t>, std::string>;

/// The longest waits in collectives, and those that never ended. Packed events are not included.
Stalls stalls_of(const LogReader& log, const interp::LogExtent& extent, int64_t record_end_ns) {
  Stalls out;
  const auto add = [&](std::string_view sql, int what) {
    const auto table = log.query(sql, 4000);
    if (!table) return;  // an older log without one of the tables
    for (const auto& row : table->rows) {
      const auto* begin = std::get_if<int64_t>(&row[2]);
      const auto* end = std::get_if<int64_t>(&row[3]);
      if (begin == nullptr) continue;
      std::string& list = out[{std::get<int64_t>(row[0]), std::get<int64_t>(row[1])}];
      list += fmt::format("{}{},{},{}", list.empty() ? "" : ",", *begin - extent.begin_ns,
                          (end != nullptr ? *end : record_end_ns) - extent.begin_ns, what);
    }
  };
  add("SELECT e.rank, COALESCE(e.stream, -1), c.arrival_ns, c.start_ns FROM collective_row c JOIN "
      "event_row e ON e.id = c.event WHERE c.start_ns > c.arrival_ns ORDER BY c.arrival_ns - "
      "c.start_ns",
      0);
  add("SELECT e.rank, COALESCE(e.stream, -1), COALESCE(c.arrival_ns, e.host_end_ns), NULL FROM "
      "collective_row c JOIN event_row e ON e.id = c.event LEFT JOIN untimed_state u ON u.event = "
      "c.event AND u.state = 'completed' WHERE c.finish_ns IS NULL AND u.event IS NULL",
      1);
  return out;
}

}  // namespace

Expected<std::string> timeline_section(const LogReader& log) {
  const interp::LogExtent extent = log.extent();
  if (extent.event_count == 0 || extent.end_ns <= extent.begin_ns) return std::string();
  std::string tracks, names;
  std::map<interp::CodeIndex, size_t> known;
  size_t shown = 0, left_out = 0;
  const int64_t end_ns = record_end_ns(log);
  const Stalls stalls = stalls_of(log, extent, end_ns);
  for (interp::TrackId t = 0; t < log.tracks().size(); ++t) {
    const interp::LogTrack& track = log.tracks()[t];
    const auto slices = log.timeline({t, extent.begin_ns, extent.end_ns, kColumns});
    const auto waits = stalls.find({track.rank, track.stream});
    if (slices.empty() && waits == stalls.end()) continue;
    if (++shown > kMostTracks) {
      ++left_out;
      continue;
    }
    std::string list;
    for (const interp::TimelineSlice& s : slices) {
      if (s.instruction >= log.instructions().size()) continue;
      const interp::LogInstruction& i = log.instructions()[s.instruction];
      const auto [at, added] = known.try_emplace(s.instruction, known.size());
      if (added) {
        names += fmt::format("{}[{},{},{}]", names.empty() ? "" : ",", json_string(name_of(i)),
                             kind_of(i), json_string(i.address.substr(0, 80)));
      }
      list += fmt::format("{}{},{},{},{}", list.empty() ? "" : ",", s.begin_ns - extent.begin_ns,
                          s.end_ns - extent.begin_ns, at->second, s.count);
    }
    tracks +=
        fmt::format("{}{{\"rank\":{},\"name\":{},\"w\":[{}],\"s\":[{}]}}",
                    tracks.empty() ? "" : ",", track.rank, json_string(track.name.substr(0, 40)),
                    waits == stalls.end() ? std::string() : waits->second, list);
  }
  if (tracks.empty()) return std::string();
  std::string body =
      "<div class=\"tools\"><button type=\"button\" data-zoom=\"0.5\">+</button><button "
      "type=\"button\" "
      "data-zoom=\"2\">&minus;</button><button type=\"button\" data-zoom=\"0\">all</button>"
      "<span class=\"key\"><i class=\"k0\"></i>kernel</span><span class=\"key\"><i "
      "class=\"k1\"></i>communication</span><span class=\"key\"><i class=\"k2\"></i>other</span>"
      "<span class=\"key\"><i class=\"k3\"></i>waits for members</span><span class=\"key\"><i "
      "class=\"k4\"></i>never finished</span>"
      "</div><div id=\"view\"><canvas></canvas><div id=\"tip-box\" hidden></div></div>";
  if (left_out > 0)
    body += fmt::format("<p class=\"note\">{} more tracks are in the log</p>", left_out);
  body += fmt::format(
      "<script type=\"application/json\" id=\"timeline-data\">{{\"end\":{},\"names\":[{}],"
      "\"tracks\":[{}]}}</script>",
      end_ns - extent.begin_ns, names, tracks);
  return section("timeline", "Timeline", body);
}

namespace {

std::optional<int64_t> number_in(const interp::LogCell& cell) {
  const auto* value = std::get_if<int64_t>(&cell);
  return value ? std::optional(*value) : std::nullopt;
}

/// The rows of v_collectives do not say between which ranks a send and its recv are.
class PairNames {
 public:
  static Expected<PairNames> read(const LogReader& log) {
    HOSTIR_ASSIGN_OR_RETURN(
        const interp::LogTable table,
        log.query(
            "WITH side AS (SELECT c.branch, c.communicator, c.sequence, c.arrival_ns, c.kind = "
            "'send' AS sends, c.rank, p.rank AS peer FROM collective c LEFT JOIN "
            "communicator_member p ON p.communicator = c.communicator AND p.position = c.peer "
            "WHERE c.peer IS NOT NULL) SELECT m.name, s.sequence, MIN(s.arrival_ns), COUNT(*), "
            "CASE WHEN sends THEN s.rank ELSE s.peer END AS source, CASE WHEN sends THEN s.peer "
            "ELSE s.rank END AS target FROM side s LEFT JOIN communicator m ON m.id = "
            "s.communicator GROUP BY s.branch, s.communicator, s.sequence, source, target "
            "ORDER BY source, target",
            kMostRead));
    PairNames out;
    for (const auto& row : table.rows) {
      const auto source = number_in(row[4]);
      const auto target = number_in(row[5]);
      if (!source || !target) continue;
      out.names_.emplace(key(row[0], row[1], row[2], row[3]),
                         fmt::format("send/recv, rank {} to {}", *source, *target));
    }
    return out;
  }

  /// Takes each row only once. Rows with equal arguments also look the same in the table.
  std::string take(const interp::LogCell& communicator, const interp::LogCell& sequence,
                   const interp::LogCell& first_arrival, const interp::LogCell& arrived) {
    const auto at = names_.find(key(communicator, sequence, first_arrival, arrived));
    if (at == names_.end()) return "send/recv";
    return names_.extract(at).mapped();
  }

 private:
  static constexpr int64_t kMostRead = 1'000'000;
  using Key = std::tuple<std::string, std::optional<int64_t>, std::optional<int64_t>,
                         std::optional<int64_t>>;
  static Key key(const interp::LogCell& communicator, const interp::LogCell& sequence,
                 const interp::LogCell& first_arrival, const interp::LogCell& arrived) {
    const auto* name = std::get_if<std::string>(&communicator);
    return {name ? *name : std::string(), number_in(sequence), number_in(first_arrival),
            number_in(arrived)};
  }

  std::multimap<Key, std::string> names_;
};

}  // namespace

Expected<std::string> collectives_section(const LogReader& log, const model::Run& run,
                                          const std::vector<CallAtFault>& marked) {
  constexpr int64_t kMost = 200;
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::LogTable table,
      log.query(
          "SELECT communicator, sequence, kind, dtype, bytes, arrived, member_count, skew_ns, "
          "duration_ns, address, first_arrival_ns, group_index FROM v_collectives ORDER BY "
          "first_arrival_ns IS NULL, first_arrival_ns, sequence",
          kMost + 1));
  if (table.rows.empty()) return std::string();
  std::map<std::string, std::string> names;                       // as the verdict has them
  std::map<std::pair<std::string, int64_t>, std::string> groups;  // of those with several: ranks
  for (size_t i = 0; i < run.communicators.size(); ++i) {
    const model::Communicator& comm = run.communicators[i];
    const model::CommunicatorId id(static_cast<uint32_t>(i));
    const bool first = names.emplace(comm.name, diagnose::communicator_name(run, id)).second;
    const bool several =
        !first || (i + 1 < run.communicators.size() && run.communicators[i + 1].name == comm.name);
    if (several && comm.group && comm.members)
      groups[{comm.name, *comm.group}] = ", " + model::list_of(*comm.members);
  }
  std::string rows;
  const auto text = [](const interp::LogCell& cell) {
    const auto* value = std::get_if<std::string>(&cell);
    return value ? escaped(value->substr(0, 200)) : std::string();
  };
  const auto group_of = [&](const interp::LogCell& cell, std::optional<int64_t> group) {
    const auto* name = std::get_if<std::string>(&cell);
    const auto found = name ? names.find(*name) : names.end();
    if (found == names.end()) return text(cell);
    const auto ranks = groups.find({*name, group.value_or(-1)});
    return escaped(found->second.substr(0, 200) +
                   (ranks == groups.end() ? std::string() : ranks->second.substr(0, 200)));
  };
  const bool has_pairs =
      std::ranges::any_of(table.rows, [&](const auto& row) { return text(row[2]) == "send/recv"; });
  PairNames pairs;
  if (has_pairs) {
    HOSTIR_ASSIGN_OR_RETURN(pairs, PairNames::read(log));
  }
  for (size_t i = 0; i < std::min<size_t>(kMost, table.rows.size()); ++i) {
    const auto& row = table.rows[i];
    const bool pair = text(row[2]) == "send/recv";
    const auto arrived = number_in(row[5]), members = number_in(row[6]);
    const bool partly = arrived && members && *members > 0 && *arrived < *members;
    const bool at_fault = std::any_of(marked.begin(), marked.end(), [&](const CallAtFault& call) {
      return text(row[0]) == escaped(call.communicator) && pair == call.pair &&
             number_in(row[1]) == static_cast<int64_t>(call.sequence) && (!pair || partly);
    });
    const auto time = [&](size_t column) {
      const auto ns = number_in(row[column]);
      return ns ? time_text(*ns) : std::string();
    };
    const auto bytes = number_in(row[4]);
    rows += fmt::format(
        "<tr{}><td class=\"text\">{}</td><td>{}</td><td class=\"text\">{}</td><td "
        "class=\"text\">{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td></tr>",
        at_fault ? " class=\"fault\""
        : partly ? " class=\"partly\""
                 : "",
        group_of(row[0], number_in(row[11])), number_in(row[1]).value_or(0),
        pair ? pairs.take(row[0], row[1], row[10], row[5]) : text(row[2]), text(row[3]),
        bytes && *bytes > 0 ? bytes_text(*bytes) : "",
        arrived ? fmt::format("{} of {}", *arrived, members ? std::to_string(*members) : "?") : "",
        time(7), time(8), text(row[9]));
  }
  std::string body;
  for (const CallAtFault& call : marked)
    body += "<p class=\"marked\">" + escaped(call.text) + "</p>";
  body +=
      "<div class=\"scroll\"><table><thead><tr><th>communicator</th><th>seq</th><th>kind</th>"
      "<th>dtype</th><th>size</th><th>arrived</th><th>skew</th><th>transfer</th><th>at</th></tr>"
      "</thead><tbody>" +
      rows + "</tbody></table></div>";
  if (table.rows.size() > kMost) body += fmt::format("<p class=\"note\">the first {}</p>", kMost);
  return section("collectives", "Collectives", body);
}

Expected<std::string> memory_section(const LogReader& log) {
  constexpr int kWidth = 600, kHeight = 120;
  const interp::LogExtent extent = log.extent();
  const double span = static_cast<double>(std::max<int64_t>(1, extent.end_ns - extent.begin_ns));
  int64_t most = 0;
  std::vector<std::pair<int64_t, std::vector<interp::LogMemoryPoint>>> curves;
  for (int64_t rank = 0; rank < std::min<int64_t>(log.run().rank_count, 16); ++rank) {
    HOSTIR_ASSIGN_OR_RETURN(auto points, log.memory(static_cast<interp::Rank>(rank),
                                                    extent.begin_ns, extent.end_ns + 1, 300));
    for (const auto& point : points) most = std::max(most, point.live_bytes);
    if (!points.empty()) curves.emplace_back(rank, std::move(points));
  }
  if (most == 0) return std::string();
  std::string svg = fmt::format(
      "<svg class=\"memory\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"live bytes over time\">",
      kWidth, kHeight);
  std::string peaks;
  for (const auto& [rank, points] : curves) {
    std::string line;
    int64_t peak = 0;
    const auto y = [&](int64_t bytes) {
      return kHeight - 4 - (kHeight - 8) * static_cast<double>(bytes) / static_cast<double>(most);
    };
    for (const auto& point : points) {
      const double x = kWidth * static_cast<double>(point.time_ns - extent.begin_ns) / span;
      line += line.empty() ? fmt::format("M{:.1f} {:.1f}", x, y(point.live_bytes))
                           : fmt::format("H{:.1f}V{:.1f}", x, y(point.live_bytes));
      peak = std::max(peak, point.live_bytes);
    }
    svg +=
        fmt::format("<path class=\"curve {}\" d=\"{}H{}\"><title>rank {}: peak {}</title></path>",
                    rank_class(rank), line, kWidth, rank, bytes_text(peak));
    peaks += fmt::format("<li><i class=\"{}\"></i>rank {}: {}</li>", rank_class(rank), rank,
                         bytes_text(peak));
  }
  return section("memory", "Memory",
                 svg +
                     "</svg><p class=\"note\">Live bytes; the largest value of each rank:</p>"
                     "<ul class=\"peaks\">" +
                     peaks + "</ul>");
}

}  // namespace hostir::traces::report
