// Migrates older logs to the current schema, on a copy.
//
// A step is the SQL that turns version n into n+1; steps run in order inside one transaction. The
// user's file is never changed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/database/sqlite.h"

namespace hostir::traces {

struct MigrationStep {
  int64_t from_version = 0;
  std::string_view sql;
};

/// All steps, oldest first; version 1 is the first that was released.
const std::vector<MigrationStep>& migration_steps();

/// Migrates an open, writable log from its version to `target`.
/// Errors: `log_old` if a step is missing, `log_damaged`.
Expected<void> migrate(Database& database, const std::vector<MigrationStep>& steps, int64_t target);

}  // namespace hostir::traces
