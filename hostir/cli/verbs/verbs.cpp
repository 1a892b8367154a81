#include "hostir/cli/verbs/verbs.h"

namespace hostir::cli {

std::vector<std::unique_ptr<Verb>> make_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  for (auto make : {make_run_verb,   make_lower_verb,     make_pipeline_verb, make_import_verb,
                    make_fmt_verb,   make_verify_verb,    make_test_verb,     make_debug_verb,
                    make_open_verb,  make_watch_verb,     make_replay_verb,   make_diff_verb,
                    make_trace_verb, make_report_verb,    make_ops_verb,      make_machines_verb,
                    make_bench_verb, make_plan_verb,      make_gui_verb,      make_launch_verb,
                    make_serve_verb, make_completion_verb}) {
    verbs.push_back(make());
  }
  return verbs;
}

}  // namespace hostir::cli
