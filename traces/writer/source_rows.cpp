// The texts of a program, and where its instructions are in them.
#include "hostir/support/hash.h"
#include "traces/database/static_rows.h"

namespace hostir::traces {

namespace {

// The rows of the given texts are first, in order, so their ids are the texts' numbers plus one.
int64_t id_of(uint32_t text) { return int64_t{text} + 1; }

Expected<void> write_texts(Database& database, const RunDescription& run) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO source (id, kind, name, text, digest) VALUES (?, ?, ?, ?, ?)"));
  int64_t id = 0;
  const auto add = [&](std::string_view kind, std::string_view name,
                       std::string_view text) -> Expected<void> {
    s.bind_int(1, ++id);
    s.bind_text(2, kind);
    bind_text_or_null(s, 3, name);
    s.bind_text(4, text);
    s.bind_int(5, static_cast<int64_t>(hash_of(text)));
    return s.run();
  };
  if (const auto& given = run.given.texts) {
    for (uint32_t file = 0; file < given->size(); ++file)
      HOSTIR_TRY(add("original", given->name(file), given->text(file)));
  } else if (!run.source_text.empty()) {
    HOSTIR_TRY(add("original", run.source_name, run.source_text));
  }
  return run.program_text.empty() ? Expected<void>{} : add("program", {}, run.program_text);
}

Expected<void> write_instruction_origins(Database& database, const interp::GivenPlaces& given) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, database.prepare("INSERT INTO instruction_origin VALUES (?, ?, ?, ?, ?, ?)"));
  for (size_t index = 0; index < given.origins.size(); ++index) {
    int64_t position = 0;
    for (const SourceSpan span : given.origins[index]) {
      if (!span.valid()) continue;
      s.bind_int(1, static_cast<int64_t>(index));
      s.bind_int(2, position++);
      s.bind_int(3, id_of(span.file));
      s.bind_int(4, given.texts->locate(span.file, span.begin).line);
      s.bind_int(5, span.begin);
      s.bind_int(6, span.end);
      HOSTIR_TRY(s.run());
    }
  }
  return {};
}

Expected<void> write_text_origins(Database& database, const interp::GivenPlaces& given) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO text_origin (first_byte, end_byte, source, source_first_byte, "
                       "source_end_byte) VALUES (?, ?, ?, ?, ?)"));
  for (const interp::SpanMove& move : given.moves) {
    if (!move.here.valid() || !move.there.valid()) continue;
    s.bind_int(1, move.here.begin);
    s.bind_int(2, move.here.end);
    s.bind_int(3, id_of(move.there.file));
    s.bind_int(4, move.there.begin);
    s.bind_int(5, move.there.end);
    HOSTIR_TRY(s.run());
  }
  return {};
}

}  // namespace

Expected<void> write_source_rows(Database& database, const RunDescription& run) {
  HOSTIR_TRY(write_texts(database, run));
  if (!run.given.texts) return {};
  HOSTIR_TRY(write_instruction_origins(database, run.given));
  return write_text_origins(database, run.given);
}

}  // namespace hostir::traces
