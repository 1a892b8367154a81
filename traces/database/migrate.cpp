#include "traces/database/migrate.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::traces {

const std::vector<MigrationStep>& migration_steps() {
  static const std::vector<MigrationStep> steps;
  return steps;
}

Expected<void> migrate(Database& database, const std::vector<MigrationStep>& steps,
                       int64_t target) {
  HOSTIR_ASSIGN_OR_RETURN(const std::optional<int64_t> found,
                          database.query_int("PRAGMA user_version"));
  int64_t version = found.value_or(0);
  HOSTIR_TRY(database.execute("BEGIN"));
  while (version < target) {
    const auto step = std::find_if(steps.begin(), steps.end(), [&](const MigrationStep& s) {
      return s.from_version == version;
    });
    if (step == steps.end()) {
      (void)database.execute("ROLLBACK");
      return fail(
          ErrorKind::kRuntime, "log_old",
          fmt::format("the log has schema version {}, which is too old to be read", version));
    }
    HOSTIR_TRY(database.execute(std::string(step->sql)));
    ++version;
  }
  return database.execute(fmt::format("PRAGMA user_version = {}; COMMIT", version));
}

}  // namespace hostir::traces
