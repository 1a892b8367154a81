#include "interp/session/log/replay_source.h"

#include "interp/session/session_factory.h"

namespace hostir::interp {

Expected<void> ReplaySource::past_contents(const std::vector<PastWrite>&, const TakeContents&,
                                           std::stop_token) const {
  return fail(ErrorKind::kRuntime, "no_stepping", "this run cannot be repeated");
}

Expected<std::unique_ptr<ReplaySource>> SessionFactory::open_for_comparison(
    const std::string& path, const PrepareProgress&) const {
  return fail(ErrorKind::kRuntime, "not_a_log",
              "\"" + path + "\" cannot be opened to compare with");
}

}  // namespace hostir::interp
