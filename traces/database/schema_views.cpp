// Views: rejoin packed and split tables, and answer common questions in one line.

#include "traces/database/schema.h"

namespace hostir::traces {
namespace {

// Every event, plain or packed. The order of the packed cells is that in event_packing.cpp.
constexpr std::string_view kEvent =
    R"(SELECT id, branch, decision, rank, instruction, loop_path, host_start_ns, host_end_ns, bytes,
       waited_ns, stream, task, queued_ns, start_ns, finish_ns, live_bytes, waited_for
FROM event_row
UNION ALL
SELECT b.first_id + (r.value ->> 0), b.branch, b.base_decision + (r.value ->> 1), r.value ->> 2,
       r.value ->> 3, r.value ->> 4, b.base_ns + (r.value ->> 5), b.base_ns + (r.value ->> 6),
       COALESCE(r.value ->> 7, 0), COALESCE(r.value ->> 8, 0), r.value ->> 9,
       b.base_task + (r.value ->> 10), b.base_ns + (r.value ->> 11), b.base_ns + (r.value ->> 12),
       b.base_ns + (r.value ->> 13), r.value ->> 14, b.base_task + (r.value ->> 15)
FROM event_block b, json_each(b.rows) r)";

constexpr std::string_view kCollectiveView =
    R"(SELECT c.event, c.branch, c.rank, c.instruction, i.address, c.communicator,
       m.content_key AS communicator_key, s.group_index, c.sequence, s.kind, s.reduction, s.dtype,
       c.bytes / s.element_bytes / s.count_parts AS count, s.root, c.peer, s.send_tensor,
       s.recv_tensor, s.member_count, c.bytes, a.text AS algorithm, p.text AS protocol,
       c.arrival_ns, c.start_ns, c.finish_ns, c.finish_ns - c.start_ns AS duration_ns,
       c.bytes * 1e9 / NULLIF(c.finish_ns - c.start_ns, 0) AS algbw_bytes_per_s,
       c.bytes * 1e9 * s.bus_factor / NULLIF(c.finish_ns - c.start_ns, 0) AS busbw_bytes_per_s
FROM collective_row c
LEFT JOIN collective_site s ON s.instruction = c.instruction AND s.rank = c.rank
LEFT JOIN instruction i ON i.id = c.instruction
LEFT JOIN communicator m ON m.id = c.communicator
LEFT JOIN string a ON a.id = c.algorithm
LEFT JOIN string p ON p.id = c.protocol)";

constexpr std::string_view kArrival =
    R"(SELECT c.branch, m.content_key AS communicator_key, c.sequence, c.rank,
       c.arrival_ns AS time_ns
FROM collective_row c JOIN communicator m ON m.id = c.communicator)";

constexpr std::string_view kMemory =
    R"(SELECT e.id AS event, e.branch, e.rank, i.op AS kind, e.bytes,
       COALESCE(e.finish_ns, e.host_end_ns) AS time_ns, e.live_bytes
FROM event e LEFT JOIN instruction i ON i.id = e.instruction
WHERE e.live_bytes IS NOT NULL)";

// A send and its recv are one meeting: (source, destination) distinguishes pairs. A `group` has one
// start and one end: each member gets a share of that time in proportion to its bytes on the wire.
constexpr std::string_view kCollectives =
    R"(WITH together AS (
  SELECT r.branch, r.rank, s.group_instruction, r.start_ns, SUM(r.bytes * s.bus_factor) AS wire
  FROM collective_site s JOIN collective_row r ON r.instruction = s.instruction AND r.rank = s.rank
  WHERE s.group_instruction IS NOT NULL GROUP BY 1, 2, 3, 4),
member AS (
  SELECT c.*, g.address AS group_address, CASE WHEN s.group_instruction IS NULL THEN 1.0
         ELSE COALESCE(c.bytes * s.bus_factor / NULLIF(t.wire, 0), 1.0) END AS share
  FROM collective c
  LEFT JOIN collective_site s ON s.instruction = c.instruction AND s.rank = c.rank
  LEFT JOIN instruction g ON g.id = s.group_instruction
  LEFT JOIN together t ON t.branch = c.branch AND t.rank = c.rank
            AND t.group_instruction = s.group_instruction AND t.start_ns = c.start_ns)
SELECT c.branch, m.name AS communicator, c.group_index, c.sequence,
       CASE WHEN c.peer IS NULL THEN c.kind ELSE 'send/recv' END AS kind, c.reduction, c.dtype,
       c.count, c.bytes, COUNT(*) AS arrived,
       CASE WHEN c.peer IS NULL THEN c.member_count ELSE 2 END AS member_count,
       MIN(c.arrival_ns) AS first_arrival_ns, MAX(c.arrival_ns) AS last_arrival_ns,
       MAX(c.arrival_ns) - MIN(c.arrival_ns) AS skew_ns, MIN(c.start_ns) AS start_ns,
       MAX(c.finish_ns) AS finish_ns,
       CAST(ROUND((MAX(c.finish_ns) - MIN(c.start_ns)) * MIN(c.share)) AS INTEGER) AS duration_ns,
       MIN(c.algbw_bytes_per_s / c.share) AS algbw_bytes_per_s,
       MIN(c.busbw_bytes_per_s / c.share) AS busbw_bytes_per_s, MIN(c.address) AS address,
       MIN(c.group_address) AS group_address
FROM member c
LEFT JOIN communicator m ON m.id = c.communicator
LEFT JOIN communicator_member me ON me.communicator = c.communicator AND me.rank = c.rank
GROUP BY c.branch, c.communicator, c.group_index, c.sequence,
         CASE WHEN c.peer IS NULL THEN -1 WHEN c.kind = 'send' THEN me.position ELSE c.peer END,
         CASE WHEN c.peer IS NULL THEN -1 WHEN c.kind = 'send' THEN c.peer ELSE me.position END
ORDER BY 1, MIN(c.start_ns), 2, 3, 4)";

constexpr std::string_view kTimeline =
    R"(SELECT e.id AS event, e.branch, e.rank, COALESCE(s.name, 'host') AS track, i.op, i.address,
       COALESCE(e.start_ns, e.host_start_ns) AS begin_ns,
       CASE WHEN e.stream IS NULL THEN e.host_end_ns ELSE e.finish_ns END AS end_ns,
       CASE WHEN e.stream IS NULL THEN e.host_end_ns - e.host_start_ns
            ELSE e.finish_ns - e.start_ns END AS duration_ns,
       i.text
FROM event e
LEFT JOIN stream s ON s.id = e.stream
LEFT JOIN instruction i ON i.id = e.instruction)";

// Sweeps over the edges of the compute and communication intervals of each rank.
constexpr std::string_view kExposed =
    R"(WITH span AS (
  SELECT e.branch, e.rank, e.start_ns AS a, e.finish_ns AS b,
         i.op_class = 'communication' AS communicates
  FROM event e JOIN instruction i ON i.id = e.instruction
  WHERE e.finish_ns > e.start_ns AND (i.op_class = 'communication' OR i.kernel IS NOT NULL)),
edge AS (
  SELECT branch, rank, a AS t, communicates AS comm, 1 - communicates AS compute FROM span
  UNION ALL SELECT branch, rank, b, -communicates, communicates - 1 FROM span),
step AS (
  SELECT branch, rank, t, SUM(comm) AS comm, SUM(compute) AS compute
  FROM edge GROUP BY branch, rank, t),
stretch AS (
  SELECT branch, rank, LEAD(t) OVER w - t AS ns, SUM(comm) OVER w AS comm,
         SUM(compute) OVER w AS compute
  FROM step WINDOW w AS (PARTITION BY branch, rank ORDER BY t))
SELECT branch, rank, TOTAL(ns) FILTER (WHERE compute > 0) AS compute_ns,
       TOTAL(ns) FILTER (WHERE comm > 0) AS communication_ns,
       TOTAL(ns) FILTER (WHERE comm > 0 AND compute = 0) AS exposed_ns,
       TOTAL(ns) FILTER (WHERE comm > 0 AND compute > 0) AS overlapped_ns,
       TOTAL(ns) FILTER (WHERE comm = 0 AND compute = 0) AS idle_ns
FROM stretch GROUP BY branch, rank ORDER BY branch, rank)";

constexpr std::string_view kPeakMemory =
    R"(SELECT m.branch, m.rank, MAX(m.live_bytes) AS peak_bytes, m.time_ns, m.event
FROM memory m GROUP BY m.branch, m.rank ORDER BY m.branch, m.rank)";

// A stream with nothing running stalls if its next work becomes ready later than the host issued
// it. It waited for the work of the same rank that finished at that moment.
constexpr std::string_view kSlowestWaits =
    R"(WITH stalls AS (
  SELECT id, branch, rank, instruction, queued_ns, queued_ns - MAX(host_end_ns, COALESCE(
         LAG(finish_ns) OVER (PARTITION BY branch, rank, stream ORDER BY id), 0)) AS stalled_ns
  FROM event WHERE stream IS NOT NULL AND queued_ns IS NOT NULL AND host_end_ns IS NOT NULL),
finishes AS (
  SELECT branch, rank, finish_ns, MIN(id) AS id FROM event
  WHERE stream IS NOT NULL AND finish_ns IS NOT NULL GROUP BY branch, rank, finish_ns)
SELECT e.id AS event, e.branch, e.rank, i.address, i.text, e.waited_ns,
       'host waits for an event' AS reason, w.id AS waited_for_event
FROM event e JOIN instruction i ON i.id = e.instruction
LEFT JOIN event w ON w.task = e.waited_for AND w.rank = e.rank AND w.branch = e.branch
WHERE e.waited_ns > 0
UNION ALL
SELECT s.id, s.branch, s.rank, i.address, i.text, s.stalled_ns, 'stream waits for an event', f.id
FROM stalls s JOIN instruction i ON i.id = s.instruction
LEFT JOIN finishes f ON f.branch = s.branch AND f.rank = s.rank AND f.finish_ns = s.queued_ns
WHERE s.stalled_ns > 0
UNION ALL
SELECT c.event, c.branch, c.rank, i.address, i.text, c.start_ns - c.arrival_ns,
       'members of the collective are missing', NULL
FROM collective_row c JOIN instruction i ON i.id = c.instruction
WHERE c.start_ns > c.arrival_ns
ORDER BY 6 DESC, 1)";

constexpr std::string_view kKernels =
    R"(SELECT e.id AS event, e.branch, e.rank, i.address, k.name, o.text AS fused_ops,
       d.text AS implementation, e.start_ns, e.finish_ns - e.start_ns AS duration_ns, k.flops,
       k.read_bytes, k.write_bytes, k.flops * 1e9 / NULLIF(e.finish_ns - e.start_ns, 0)
       AS flops_per_s, (k.read_bytes + k.write_bytes) * 1e9 / NULLIF(e.finish_ns - e.start_ns, 0)
       AS bytes_per_s, k.limit_ns, k.limit_ns / NULLIF(e.finish_ns - e.start_ns, 0)
       AS achieved_of_limit
FROM event e JOIN kernel k ON k.instruction = e.instruction AND k.rank = e.rank
JOIN instruction i ON i.id = e.instruction
LEFT JOIN string o ON o.id = k.fused_ops
LEFT JOIN string d ON d.id = k.implementation)";

constexpr std::string_view kDecisions =
    R"(SELECT branch, decision AS number, 'run' AS kind, rank, instruction, NULL AS detail
FROM event GROUP BY branch, decision
UNION ALL SELECT branch, number, kind, rank, NULL, detail FROM decision
ORDER BY 1, 2)";

constexpr std::string_view kValues =
    R"(SELECT v.id, v.event, v.branch, v.rank, i.address, t.name AS tensor, t.dtype, t.sharding,
       s.offset, s.local_shape, v.digest, v.min, v.max, v.mean, v.nan_count, v.inf_count,
       v.data IS NOT NULL AS has_data
FROM value v LEFT JOIN event e ON e.id = v.event
LEFT JOIN instruction i ON i.id = e.instruction LEFT JOIN tensor t ON t.id = v.tensor
LEFT JOIN shard s ON s.tensor = v.tensor AND s.rank = v.rank)";

constexpr std::string_view kPhase =
    R"(SELECT r.id, r.name, (SELECT group_concat(text, '') FROM (
  SELECT l.text FROM phase_part p
  JOIN phase_line l ON l.id BETWEEN p.first_line AND p.last_line
  WHERE p.phase = r.id ORDER BY p.position, l.id)) AS text
FROM phase_row r)";

}  // namespace

std::vector<View> schema_views() {
  return {
      {"phase", "The program after every phase of the compiler: id, name and whole text.", kPhase},
      {"event", "Every executed instruction on every rank; columns as in `event_row`.", kEvent},
      {"collective", "The ledger: one row per member of each collective, send or recv.",
       kCollectiveView},
      {"collective_arrival",
       "When each member arrived, by keys that are equal in all files of a run, so that files can "
       "be joined.",
       kArrival},
      {"memory", "Allocations and frees with the bytes live on the rank afterwards.", kMemory},
      {"v_collectives",
       "Each meeting once: how many members issued it (arrived), of how many, skew, time, "
       "bandwidth. A member of a group { } has its share of the group's time, by bytes on the "
       "wire, and the bandwidth of the whole group.",
       kCollectives},
      {"v_exposed_communication",
       "Per rank: time in kernels, in communication, and in communication without a kernel.",
       kExposed},
      {"v_timeline", "What each stream and each host thread did, with names.", kTimeline},
      {"v_peak_memory", "Per rank: most live bytes, and the event that reached them.", kPeakMemory},
      {"v_slowest_waits",
       "Waits of hosts, of streams for events, and of collectives for members, longest first.",
       kSlowestWaits},
      {"v_kernels", "Every launch with its work, what it achieved and what the machine allows.",
       kKernels},
      {"v_decisions", "The whole history: instructions, freezes, edits and branches in order.",
       kDecisions},
      {"v_values", "What was written into tensors, with names.", kValues},
  };
}

}  // namespace hostir::traces
