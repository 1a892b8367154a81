// Opens a second log for comparison. Contents that it lacks come from running it again.
#include "hostir/api/open/backends.h"
#include "hostir/api/open/open_session.h"
#include "hostir/io/files.h"
#include "traces/reader/log_reader.h"
#include "traces/replay/replay.h"

namespace hostir::api {

namespace {

class ComparisonRun final : public interp::ReplaySource {
 public:
  ComparisonRun(std::string path, std::unique_ptr<traces::LogReader> log)
      : path_(std::move(path)), log_(std::move(log)) {}
  const interp::LogView* log() const override { return log_.get(); }
  Expected<void> past_contents(const std::vector<interp::PastWrite>& writes,
                               const interp::TakeContents& take,
                               std::stop_token stop) const override {
    return traces::replay_contents(path_, make_backend_factory(), writes, take, std::move(stop));
  }

 private:
  std::string path_;
  std::unique_ptr<traces::LogReader> log_;
};

}  // namespace

Expected<std::unique_ptr<interp::ReplaySource>> SessionOpener::open_for_comparison(
    const std::string& path, const interp::PrepareProgress& watch) const {
  HOSTIR_TRY(watch.begin("reading the other log"));
  HOSTIR_ASSIGN_OR_RETURN(const std::string head, io::read_file_head(path, kHeadBytes));
  if (!is_log(head)) {
    return fail(ErrorKind::kInvalid, "not_a_log",
                "\"" + path + "\" is not a log: `hostir run FILE --trace RUN.db` writes one");
  }
  HOSTIR_ASSIGN_OR_RETURN(std::unique_ptr<traces::LogReader> log, traces::open_log(path));
  HOSTIR_TRY(watch.begin("reading the other log"));
  return std::make_unique<ComparisonRun>(path, std::move(log));
}

}  // namespace hostir::api
