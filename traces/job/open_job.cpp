#include "traces/job/open_job.h"

#include "hostir/support/lists.h"
#include "traces/profile/open_profiles.h"

namespace hostir::traces {

Expected<OpenedJob> open_job(const std::vector<std::string>& paths) {
  OpenedJob out;
  HOSTIR_ASSIGN_OR_RETURN(out.dumps, import::open_dumps(paths));
  if (out.dumps.profiles.empty()) return out;
  auto profile = profile::open_profiles(out.dumps.profiles, out.dumps.skipped);
  if (profile) {
    out.profile = std::move(*profile);
  } else if (out.dumps.run == nullptr) {
    return tl::unexpected(std::move(profile.error()));
  } else {
    add_once(out.dumps.notes, profile.error().message());
  }
  return out;
}

void try_out(OpenedJob& job, const interp::BackendFactory& make_backend) {
  if (job.dumps.run == nullptr) return;
  job.trial = try_verdict(*job.dumps.run, job.dumps.verdict.accusation(), make_backend);
}

}  // namespace hostir::traces
