// Writes everything known before the first event: the tables of run_tables() and program_tables().
// All of it is committed before the writer receives events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/database/sqlite.h"
#include "traces/writer/run_description.h"

namespace hostir::traces {

/// Interned strings of one file.
class StringTable {
 public:
  explicit StringTable(Database& database) : database_(database) {}
  Expected<int64_t> intern(const std::string& text);

 private:
  Database& database_;
  std::map<std::string, int64_t> ids_;
};

struct StaticRowsOptions {
  int64_t inputs_max_bytes = 0;  // limit on the compressed bytes of all stored inputs together
  std::string value_mode;
};

Expected<void> write_run_rows(Database& database, const RunDescription& run,
                              const StaticRowsOptions& options);
/// Texts, and where instructions are in them.
Expected<void> write_source_rows(Database& database, const RunDescription& run);
Expected<void> write_input_rows(Database& database, const RunDescription& run,
                                int64_t inputs_max_bytes);
Expected<void> write_instruction_rows(Database& database, const ProgramDescription& program);
Expected<void> write_kernel_rows(Database& database, const ProgramDescription& program,
                                 const std::vector<KernelDescription>& kernels);
/// Tensors and shards.
Expected<void> write_tensor_rows(Database& database, const ProgramDescription& program);
Expected<void> write_collective_site_rows(Database& database, const ProgramDescription& program);

/// Binds NULL for an empty text.
void bind_text_or_null(Statement& statement, int index, std::string_view text);
/// `16x32`; empty for rank 0.
std::string extents_text(const std::vector<int64_t>& extents);
/// Parses extents_text(). Errors: `log_damaged`.
Expected<std::vector<int64_t>> parse_extents(std::string_view text);

}  // namespace hostir::traces
