// The tables about the run as a whole.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <unordered_map>

#include "hostir/support/hash.h"
#include "hostir/support/lists.h"
#include "hostir/support/process_id.h"
#include "hostir/support/unix_time.h"
#include "traces/database/static_rows.h"

namespace hostir::traces {
void bind_text_or_null(Statement& statement, int index, std::string_view text) {
  if (text.empty()) {
    statement.bind_null(index);
  } else {
    statement.bind_text(index, text);
  }
}

namespace {

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.c_str();
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return {};
}

// An empty list stands for all ranks.
bool is_among(const std::vector<interp::Rank>& ranks, interp::Rank rank) {
  return ranks.empty() || contains(ranks, rank);
}

Expected<void> write_run_row(Database& database, const RunDescription& run,
                             const StaticRowsOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare(
          "INSERT INTO run (id, tool_version, run_key, process, process_count, writer, "
          "command_line, backend, function, entry, seed, schedule, machine, machine_text, mesh, "
          "rank_count, virtual_time, clock_origin_unix_ns, host_name, cpu, kernel_set, value_mode, "
          "started_unix_ns, complete, dropped_events) "
          "VALUES (1, ?, ?, 0, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0)"));
  const int64_t now = unix_time_ns();
  const std::string writer = current_process().to_string();
  const std::string computer = host_name();
  const std::string cpu = cpu_name();
  std::string mesh;
  for (const MeshDescription& m : run.program.meshes) {
    if (m.world) mesh = m.name;
  }
  const uint64_t key = hash_of(run.program_text + run.command_line + run.program.entry);
  int i = 0;
  s.bind_text(++i, HOSTIR_VERSION);
  s.bind_int(++i, static_cast<int64_t>(key));
  s.bind_text(++i, writer);
  s.bind_text(++i, run.command_line);
  s.bind_text(++i, run.backend);
  s.bind_text(++i, run.function);
  s.bind_text(++i, run.program.entry);
  s.bind_int(++i, static_cast<int64_t>(run.seed));
  s.bind_int(++i, static_cast<int64_t>(run.schedule));
  bind_text_or_null(s, ++i, run.machine);
  bind_text_or_null(s, ++i, run.machine_text);
  bind_text_or_null(s, ++i, mesh);
  s.bind_int(++i, run.program.rank_count);
  s.bind_int(++i, run.virtual_time ? 1 : 0);
  s.bind_int(++i, now);
  s.bind_text(++i, computer);
  bind_text_or_null(s, ++i, cpu);
  bind_text_or_null(s, ++i, run.kernel_set);
  s.bind_text(++i, options.value_mode);
  s.bind_int(++i, now);
  return s.run();
}

Expected<void> write_pairs(Database& database, const RunDescription& run) {
  HOSTIR_ASSIGN_OR_RETURN(Statement property,
                          database.prepare("INSERT OR REPLACE INTO property VALUES (?, ?)"));
  for (const auto& [key, value] : run.properties) {
    property.bind_text(1, key);
    property.bind_text(2, value);
    HOSTIR_TRY(property.run());
  }
  HOSTIR_ASSIGN_OR_RETURN(Statement size, database.prepare("INSERT INTO size VALUES (?, ?)"));
  for (const auto& [name, value] : run.program.sizes) {
    size.bind_text(1, name);
    size.bind_int(2, value);
    HOSTIR_TRY(size.run());
  }
  return {};
}

Expected<void> write_meshes(Database& database, const ProgramDescription& program) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO mesh (name, axes, device_ids, world) VALUES (?, ?, ?, ?)"));
  for (const MeshDescription& mesh : program.meshes) {
    const std::string devices = fmt::format("{}", fmt::join(mesh.device_ids, ", "));
    s.bind_text(1, mesh.name);
    s.bind_text(2, mesh.axes);
    bind_text_or_null(s, 3, devices);
    s.bind_int(4, mesh.world ? 1 : 0);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> write_ranks_and_streams(Database& database, const RunDescription& run) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO rank (rank, position, local, started) VALUES (?, ?, ?, ?)"));
  const std::vector<int64_t>& positions = run.program.positions;
  for (interp::Rank rank = 0; rank < run.program.rank_count; ++rank) {
    const auto index = static_cast<size_t>(rank);
    s.bind_int(1, rank);
    s.bind_int(2, index < positions.size() ? positions[index] : rank);
    s.bind_int(3, is_among(run.local_ranks, rank) ? 1 : 0);
    s.bind_int(4, is_among(run.started_ranks, rank) ? 1 : 0);
    HOSTIR_TRY(s.run());
  }
  HOSTIR_ASSIGN_OR_RETURN(Statement stream,
                          database.prepare("INSERT INTO stream (id, name) VALUES (?, ?)"));
  for (size_t i = 0; i < run.program.streams.size(); ++i) {
    stream.bind_int(1, static_cast<int64_t>(i));
    stream.bind_text(2, run.program.streams[i]);
    HOSTIR_TRY(stream.run());
  }
  return {};
}

Expected<void> write_communicators(Database& database, const ProgramDescription& program) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare(
          "INSERT INTO communicator (id, content_key, name, axes) VALUES (?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement member,
      database.prepare("INSERT OR IGNORE INTO communicator_member VALUES (?, ?, ?, ?)"));
  for (size_t i = 0; i < program.communicators.size(); ++i) {
    const interp::LogCommunicator& comm = program.communicators[i];
    s.bind_int(1, static_cast<int64_t>(i));
    s.bind_int(2, static_cast<int64_t>(comm.content_key));
    s.bind_text(3, comm.name);
    s.bind_text(4, comm.axes);
    HOSTIR_TRY(s.run());
    for (size_t g = 0; g < comm.groups.size(); ++g) {
      for (size_t p = 0; p < comm.groups[g].size(); ++p) {
        member.bind_int(1, static_cast<int64_t>(i));
        member.bind_int(2, static_cast<int64_t>(g));
        member.bind_int(3, static_cast<int64_t>(p));
        member.bind_int(4, comm.groups[g][p]);
        HOSTIR_TRY(member.run());
      }
    }
  }
  return {};
}

// A phase leaves most lines as they were, so each is stored once.
class PhaseWriter {
 public:
  static Expected<PhaseWriter> create(Database& database) {
    HOSTIR_ASSIGN_OR_RETURN(Statement phase,
                            database.prepare("INSERT INTO phase_row (id, name) VALUES (?, ?)"));
    HOSTIR_ASSIGN_OR_RETURN(Statement line,
                            database.prepare("INSERT INTO phase_line VALUES (?, ?)"));
    HOSTIR_ASSIGN_OR_RETURN(Statement part,
                            database.prepare("INSERT INTO phase_part VALUES (?, ?, ?, ?)"));
    return PhaseWriter(std::move(phase), std::move(line), std::move(part));
  }

  Expected<void> write(const interp::PhaseText& phase) {
    phase_.bind_int(1, ++phases_);
    phase_.bind_text(2, phase.name);
    HOSTIR_TRY(phase_.run());
    int64_t position = 0;
    int64_t first = 0;
    int64_t last = 0;
    for (std::string_view rest = phase.text; !rest.empty();) {
      const size_t length = std::min(rest.find('\n'), rest.size() - 1) + 1;
      HOSTIR_ASSIGN_OR_RETURN(const int64_t line, id_of(rest.substr(0, length)));
      rest.remove_prefix(length);
      if (last != 0 && line == last + 1) {
        last = line;
        continue;
      }
      if (last != 0) HOSTIR_TRY(write_part(position++, first, last));
      first = last = line;
    }
    return last != 0 ? write_part(position, first, last) : Expected<void>{};
  }

 private:
  PhaseWriter(Statement phase, Statement line, Statement part)
      : phase_(std::move(phase)), line_(std::move(line)), part_(std::move(part)) {}

  // The lines are those of the run's texts, which outlive the writer.
  Expected<int64_t> id_of(std::string_view text) {
    const auto [at, added] = ids_.try_emplace(text, static_cast<int64_t>(ids_.size()) + 1);
    if (added) {
      line_.bind_int(1, at->second);
      line_.bind_text(2, text);
      HOSTIR_TRY(line_.run());
    }
    return at->second;
  }

  Expected<void> write_part(int64_t position, int64_t first, int64_t last) {
    part_.bind_int(1, phases_);
    part_.bind_int(2, position);
    part_.bind_int(3, first);
    part_.bind_int(4, last);
    return part_.run();
  }

  Statement phase_;
  Statement line_;
  Statement part_;
  int64_t phases_ = 0;
  std::unordered_map<std::string_view, int64_t> ids_;
};

Expected<void> write_pair(Statement& row, int64_t key, Origin value) {
  if (!value.valid()) return {};
  row.bind_int(1, key);
  row.bind_int(2, value.value.index);
  return row.run();
}

Expected<void> write_phases(Database& database, const RunDescription& run) {
  HOSTIR_ASSIGN_OR_RETURN(PhaseWriter phases, PhaseWriter::create(database));
  for (const interp::PhaseText& phase : run.phases) HOSTIR_TRY(phases.write(phase));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement explain,
      database.prepare("INSERT INTO explain (subject, rule, text) VALUES (?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(Statement about,
                          database.prepare("INSERT INTO explain_value VALUES (?, ?)"));
  int64_t id = 0;  // SQLite counts from 1
  for (const interp::LogExplain& e : run.explanations) {
    explain.bind_text(1, e.subject);
    bind_text_or_null(explain, 2, e.rule);
    explain.bind_text(3, e.text);
    HOSTIR_TRY(explain.run());
    HOSTIR_TRY(write_pair(about, ++id, e.value));
  }
  return {};
}

Expected<void> write_held_values(Database& database, const interp::HeldValues& held) {
  HOSTIR_ASSIGN_OR_RETURN(Statement names,
                          database.prepare("INSERT INTO fusion_value VALUES (?, ?)"));
  for (size_t v = 0; v < held.names.size(); ++v) {
    names.bind_int(1, static_cast<int64_t>(v));
    names.bind_text(2, held.names[v]);
    HOSTIR_TRY(names.run());
  }
  HOSTIR_ASSIGN_OR_RETURN(Statement buffers,
                          database.prepare("INSERT INTO buffer_value VALUES (?, ?)"));
  for (size_t b = 0; b < held.buffers.size(); ++b)
    HOSTIR_TRY(write_pair(buffers, static_cast<int64_t>(b), held.buffers[b]));
  HOSTIR_ASSIGN_OR_RETURN(Statement written,
                          database.prepare("INSERT INTO written_value VALUES (?, ?, ?)"));
  for (const interp::HeldValues::Written& w : held.written) {
    written.bind_int(1, w.code);
    written.bind_int(2, w.operand);
    written.bind_int(3, w.value.value.index);
    HOSTIR_TRY(written.run());
  }
  return {};
}

}  // namespace

Expected<void> write_run_rows(Database& database, const RunDescription& run,
                              const StaticRowsOptions& options) {
  HOSTIR_TRY(write_run_row(database, run, options));
  HOSTIR_TRY(write_pairs(database, run));
  HOSTIR_TRY(write_source_rows(database, run));
  HOSTIR_TRY(write_meshes(database, run.program));
  HOSTIR_TRY(write_ranks_and_streams(database, run));
  HOSTIR_TRY(write_communicators(database, run.program));
  HOSTIR_TRY(write_held_values(database, run.held));
  return write_phases(database, run);
}

}  // namespace hostir::traces
