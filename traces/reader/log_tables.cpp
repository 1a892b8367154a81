#include "traces/reader/log_tables.h"

#include <fmt/core.h>

#include <functional>
#include <limits>
#include <map>

#include "hostir/support/process_id.h"
#include "traces/database/log_file.h"
#include "traces/database/static_rows.h"

namespace hostir::traces {
namespace {

tl::unexpected<Error> damaged(std::string_view table) {
  return fail(ErrorKind::kRuntime, "log_damaged",
              fmt::format("the table \"{}\" of the log is damaged", table));
}

/// Calls `take` for every row of a query.
Expected<void> for_rows(Database& database, std::string_view sql,
                        const std::function<Expected<void>(const Statement&)>& take) {
  HOSTIR_ASSIGN_OR_RETURN(Statement rows, database.prepare(sql));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return {};
    HOSTIR_TRY(take(rows));
  }
}

interp::LogEnding ending_of(const Statement& row, int writer, int ended) {
  return !row.is_null(ended)                 ? interp::LogEnding::kClosed
         : is_running(row.text_view(writer)) ? interp::LogEnding::kRunning
                                             : interp::LogEnding::kCut;
}

Expected<void> load_run(Database& database, LogTables& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("SELECT tool_version, command_line, backend, function, entry, seed, "
                       "schedule, machine, machine_text, mesh, rank_count, virtual_time, "
                       "host_name, cpu, kernel_set, writer, ended_unix_ns, outcome, complete "
                       "FROM run WHERE id = 1"));
  HOSTIR_ASSIGN_OR_RETURN(const bool found, s.step());
  if (!found) {
    return fail(ErrorKind::kRuntime, "log_empty", "the log was cut before its run was described");
  }
  interp::LogRun& run = log.run;
  run.tool_version = s.text(0);
  run.command_line = s.text(1);
  run.backend = s.text(2);
  log.function = s.text(3);
  run.entry = s.text(4);
  run.seed = static_cast<uint64_t>(s.integer(5));
  run.schedule = static_cast<uint64_t>(s.integer(6));
  run.machine = s.text(7);
  run.machine_text = s.text(8);
  log.mesh = s.text(9);
  run.rank_count = s.integer(10);
  run.virtual_time = s.integer(11) != 0;
  for (int column = 12; column <= 14; ++column) {
    if (s.text_view(column).empty()) continue;
    run.host += (run.host.empty() ? "" : ", ") + s.text(column);
  }
  run.ending = ending_of(s, 15, 16);
  run.outcome = s.text(17);
  run.complete = s.integer(18) != 0;
  HOSTIR_ASSIGN_OR_RETURN(const auto version, database.query_int("PRAGMA user_version"));
  run.schema_version = version.value_or(0);
  HOSTIR_TRY(for_rows(database, "SELECT name, value FROM size", [&](const Statement& row) {
    run.sizes.emplace_back(row.text(0), row.integer(1));
    return Expected<void>{};
  }));
  return for_rows(database, "SELECT key, value FROM property", [&](const Statement& row) {
    run.properties.emplace_back(row.text(0), row.text(1));
    return Expected<void>{};
  });
}

Expected<void> load_tracks(Database& database, LogTables& log) {
  HOSTIR_TRY(for_rows(database, "SELECT id, name FROM stream ORDER BY id",
                      [&](const Statement& row) -> Expected<void> {
                        if (row.integer(0) != static_cast<int64_t>(log.streams.size())) {
                          return damaged("stream");
                        }
                        log.streams.push_back(row.text(1));
                        return {};
                      }));
  int64_t ranks = 0;
  HOSTIR_TRY(for_rows(database, "SELECT rank, started FROM rank ORDER BY rank",
                      [&](const Statement& row) -> Expected<void> {
                        if (row.integer(0) != ranks) return damaged("rank");
                        const auto rank = static_cast<interp::Rank>(ranks++);
                        if (row.integer(1) != 0) log.started_ranks.push_back(rank);
                        log.tracks.push_back({rank, -1, "host"});
                        for (size_t i = 0; i < log.streams.size(); ++i) {
                          log.tracks.push_back({rank, static_cast<int32_t>(i), log.streams[i]});
                        }
                        return {};
                      }));
  return ranks == log.run.rank_count ? Expected<void>{} : damaged("rank");
}

Expected<void> load_instructions(Database& database, LogTables& log) {
  return for_rows(
      database,
      "SELECT id, address, op, op_class, text, line, kernel, from_ops, stream FROM instruction "
      "ORDER BY id",
      [&](const Statement& row) -> Expected<void> {
        if (row.integer(0) != static_cast<int64_t>(log.instructions.size())) {
          return damaged("instruction");
        }
        interp::LogInstruction i;
        i.address = row.text(1);
        i.mnemonic = row.text(2);
        i.op_class = row.text_view(3) == "communication" ? OpClass::kCommunication : OpClass::kHost;
        i.text = row.text(4);
        i.line = row.integer(5);
        i.kernel = row.text(6);
        i.from = row.text(7);
        i.stream = static_cast<int32_t>(row.integer_or(8, -1));
        log.instructions.push_back(std::move(i));
        return {};
      });
}

Expected<void> load_communicators(Database& database, LogTables& log) {
  HOSTIR_TRY(for_rows(database, "SELECT id, name, axes, content_key FROM communicator ORDER BY id",
                      [&](const Statement& row) -> Expected<void> {
                        if (row.integer(0) != static_cast<int64_t>(log.communicators.size())) {
                          return damaged("communicator");
                        }
                        log.communicators.push_back(
                            {row.text(1), row.text(2), {}, static_cast<uint64_t>(row.integer(3))});
                        return {};
                      }));
  return for_rows(
      database,
      "SELECT communicator, group_index, position, rank FROM communicator_member "
      "ORDER BY communicator, group_index, position",
      [&](const Statement& row) -> Expected<void> {
        const auto comm = static_cast<size_t>(row.integer(0));
        const int64_t rank = row.integer(3);
        if (comm >= log.communicators.size() || rank < 0 || rank >= log.run.rank_count) {
          return damaged("communicator_member");
        }
        auto& groups = log.communicators[comm].groups;
        // Dense: group numbers are consecutive.
        if (row.integer(1) == static_cast<int64_t>(groups.size())) groups.emplace_back();
        if (groups.empty() || row.integer(1) != static_cast<int64_t>(groups.size()) - 1 ||
            row.integer(2) != static_cast<int64_t>(groups.back().size())) {
          return damaged("communicator_member");
        }
        groups.back().push_back(static_cast<interp::Rank>(rank));
        return {};
      });
}

Expected<void> load_tensors(Database& database, LogTables& log) {
  HOSTIR_TRY(for_rows(database, "SELECT id, name, dtype, shape, sharding FROM tensor ORDER BY id",
                      [&](const Statement& row) -> Expected<void> {
                        const auto dtype = parse_dtype(row.text_view(2));
                        if (row.integer(0) != static_cast<int64_t>(log.tensors.size()) || !dtype) {
                          return damaged("tensor");
                        }
                        interp::LogTensor tensor;
                        tensor.id = row.integer(0);
                        tensor.name = row.text(1);
                        tensor.dtype = *dtype;
                        HOSTIR_ASSIGN_OR_RETURN(tensor.extents, parse_extents(row.text_view(3)));
                        tensor.sharding = row.text(4);
                        log.tensors.push_back(std::move(tensor));
                        return {};
                      }));
  return for_rows(
      database, "SELECT tensor, rank, offset, local_shape FROM shard ORDER BY tensor, rank",
      [&](const Statement& row) -> Expected<void> {
        const auto id = static_cast<size_t>(row.integer(0));
        if (id >= log.tensors.size()) return damaged("shard");
        auto& tensor = log.tensors[id];
        Box box;
        HOSTIR_ASSIGN_OR_RETURN(box.lo, parse_extents(row.text_view(2)));
        HOSTIR_ASSIGN_OR_RETURN(box.hi, parse_extents(row.text_view(3)));
        if (row.integer(1) != static_cast<int64_t>(tensor.boxes.size()) ||
            box.lo.size() != tensor.extents.size() || box.hi.size() != tensor.extents.size()) {
          return damaged("shard");
        }
        for (size_t i = 0; i < box.lo.size(); ++i) {
          if (__builtin_add_overflow(box.hi[i], box.lo[i], &box.hi[i])) return damaged("shard");
        }
        tensor.boxes.push_back(std::move(box));
        return {};
      });
}

/// The given texts as numbered by `source.id`.
class GivenTexts {
 public:
  Expected<void> load(Database& database, LogTables& log) {
    return for_rows(database, "SELECT id, kind, name, text FROM source ORDER BY id",
                    [&](const Statement& row) {
                      if (row.text_view(1) == "program") {
                        log.program = row.text(3);
                      } else {
                        numbers_.emplace(row.integer(0), texts_->add(row.text(2), row.text(3)));
                      }
                      return Expected<void>{};
                    });
  }
  bool empty() const { return numbers_.empty(); }
  std::shared_ptr<const SourceManager> texts() const { return texts_; }

  /// The columns from `column` on are source, first and end byte. nullopt: outside of the text.
  std::optional<SourceSpan> span(const Statement& row, int column) const {
    const auto file = numbers_.find(row.integer(column));
    if (file == numbers_.end()) return std::nullopt;
    return span_in(texts_->text(file->second), file->second, row, column + 1);
  }
  static std::optional<SourceSpan> span_in(std::string_view text, uint32_t file,
                                           const Statement& row, int column) {
    const int64_t begin = row.integer(column);
    const int64_t end = row.integer(column + 1);
    if (begin < 0 || end < begin || end > static_cast<int64_t>(text.size())) return std::nullopt;
    return SourceSpan{file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

 private:
  std::shared_ptr<SourceManager> texts_ = std::make_shared<SourceManager>();
  std::map<int64_t, uint32_t> numbers_;
};

/// Without the given texts, as in logs of older versions, nothing is known about places in them.
Expected<void> load_sources(Database& database, LogTables& log) {
  GivenTexts texts;
  HOSTIR_TRY(texts.load(database, log));
  HOSTIR_ASSIGN_OR_RETURN(const bool has_origins, has_table(database, "instruction_origin"));
  if (texts.empty() || !has_origins) return {};
  interp::GivenPlaces& given = log.recorded.given;
  given.origins.resize(log.instructions.size());
  HOSTIR_TRY(for_rows(database,
                      "SELECT instruction, source, first_byte, end_byte FROM instruction_origin "
                      "ORDER BY instruction, position",
                      [&](const Statement& row) -> Expected<void> {
                        const auto index = static_cast<size_t>(row.integer(0));
                        const auto span = texts.span(row, 1);
                        if (index >= given.origins.size() || !span)
                          return damaged("instruction_origin");
                        given.origins[index].push_back(*span);
                        given.texts = texts.texts();
                        return {};
                      }));
  return for_rows(database,
                  "SELECT source, source_first_byte, source_end_byte, first_byte, end_byte FROM "
                  "text_origin ORDER BY id",
                  [&](const Statement& row) -> Expected<void> {
                    const auto here = GivenTexts::span_in(log.program, 0, row, 3);
                    const auto there = texts.span(row, 0);
                    if (!there || (!here && !log.program.empty())) return damaged("text_origin");
                    if (here) given.moves.push_back({*here, *there});
                    return {};
                  });
}

/// Logs of older versions do not have it.
Expected<void> load_held_values(Database& database, LogTables& log) {
  HOSTIR_ASSIGN_OR_RETURN(const bool is_known, has_table(database, "fusion_value"));
  if (!is_known) return {};
  interp::HeldValues& held = log.recorded.held;
  HOSTIR_TRY(for_rows(database, "SELECT id, name FROM fusion_value ORDER BY id",
                      [&](const Statement& row) -> Expected<void> {
                        if (row.integer(0) != static_cast<int64_t>(held.names.size()))
                          return damaged("fusion_value");
                        held.names.push_back(row.text(1));
                        return {};
                      }));
  const auto value_in = [&](const Statement& row, int column) -> std::optional<Origin> {
    const int64_t number = row.integer(column);
    if (number < 0 || number >= static_cast<int64_t>(held.names.size())) return std::nullopt;
    return Origin{ValueId(static_cast<size_t>(number))};
  };
  HOSTIR_TRY(for_rows(database, "SELECT buffer, value FROM buffer_value ORDER BY buffer",
                      [&](const Statement& row) -> Expected<void> {
                        const auto value = value_in(row, 1);
                        const int64_t buffer = row.integer(0);
                        // A line of the text names a few values; this bounds the list.
                        if (!value || buffer < 0 ||
                            buffer > static_cast<int64_t>(log.program.size()))
                          return damaged("buffer_value");
                        held.buffers.resize(static_cast<size_t>(buffer));
                        held.buffers.push_back(*value);
                        return {};
                      }));
  HOSTIR_TRY(for_rows(
      database,
      "SELECT instruction, operand, value FROM written_value ORDER BY instruction, operand",
      [&](const Statement& row) -> Expected<void> {
        const auto value = value_in(row, 2);
        const int64_t code = row.integer(0);
        const int64_t operand = row.integer(1);
        if (!value || code < 0 || code >= static_cast<int64_t>(log.instructions.size()) ||
            operand < 0 || operand > std::numeric_limits<int32_t>::max())
          return damaged("written_value");
        held.written.push_back(
            {static_cast<interp::CodeIndex>(code), static_cast<uint32_t>(operand), *value});
        return {};
      }));
  return for_rows(
      database, "SELECT explain, value FROM explain_value",
      [&](const Statement& row) -> Expected<void> {
        const auto value = value_in(row, 1);
        const int64_t explain = row.integer(0) - 1;
        if (!value || explain < 0 || explain >= static_cast<int64_t>(log.explanations.size()))
          return damaged("explain_value");
        log.explanations[static_cast<size_t>(explain)].value = *value;
        return {};
      });
}

Expected<void> load_texts(Database& database, LogTables& log) {
  HOSTIR_TRY(load_sources(database, log));
  HOSTIR_TRY(
      for_rows(database, "SELECT name, text FROM phase ORDER BY id", [&](const Statement& row) {
        log.recorded.phases.push_back({row.text(0), row.text(1)});
        return Expected<void>{};
      }));
  HOSTIR_TRY(for_rows(database, "SELECT subject, rule, text FROM explain ORDER BY id",
                      [&](const Statement& row) {
                        log.explanations.push_back({row.text(0), row.text(1), row.text(2), {}});
                        return Expected<void>{};
                      }));
  HOSTIR_TRY(load_held_values(database, log));
  return for_rows(database, "SELECT name, kind, expression, digest FROM input ORDER BY id",
                  [&](const Statement& row) {
                    log.inputs.push_back({row.text(0), row.text(1), row.text(2),
                                          static_cast<uint64_t>(row.integer(3))});
                    return Expected<void>{};
                  });
}

}  // namespace

EventLimits LogTables::limits() const {
  return {run.rank_count, static_cast<int64_t>(streams.size()),
          static_cast<int64_t>(instructions.size())};
}

Expected<interp::LogEnding> read_ending(Database& database) {
  HOSTIR_ASSIGN_OR_RETURN(Statement row,
                          database.prepare("SELECT writer, ended_unix_ns FROM run WHERE id = 1"));
  HOSTIR_ASSIGN_OR_RETURN(const bool found, row.step());
  return found ? ending_of(row, 0, 1) : interp::LogEnding::kCut;
}

Expected<void> load_group_streams(Database& database, LogTables& log) {
  const auto count = static_cast<int64_t>(log.instructions.size());
  log.group_streams.assign(log.instructions.size(), -1);
  return for_rows(database,
                  "SELECT group_instruction, MIN(instruction) FROM collective_site "
                  "WHERE group_instruction IS NOT NULL GROUP BY group_instruction",
                  [&](const Statement& row) -> Expected<void> {
                    const int64_t group = row.integer(0);
                    const int64_t member = row.integer(1);
                    if (group < 0 || group >= count || member < 0 || member >= count)
                      return damaged("collective_site");
                    log.group_streams[static_cast<size_t>(group)] =
                        log.instructions[static_cast<size_t>(member)].stream;
                    return {};
                  });
}

Expected<LogTables> load_tables(Database& database) {
  LogTables log;
  HOSTIR_TRY(load_run(database, log));
  HOSTIR_TRY(load_tracks(database, log));
  HOSTIR_TRY(load_instructions(database, log));
  HOSTIR_TRY(load_communicators(database, log));
  HOSTIR_TRY(load_group_streams(database, log));
  HOSTIR_TRY(load_tensors(database, log));
  HOSTIR_TRY(load_texts(database, log));
  return log;
}

}  // namespace hostir::traces
