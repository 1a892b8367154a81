// Factory functions of all verbs; each verb has its own file.
#pragma once

#include <memory>

#include "hostir/cli/verbs/verb.h"

namespace hostir::cli {

std::unique_ptr<Verb> make_run_verb();
std::unique_ptr<Verb> make_lower_verb();
std::unique_ptr<Verb> make_pipeline_verb();
std::unique_ptr<Verb> make_import_verb();
std::unique_ptr<Verb> make_fmt_verb();
std::unique_ptr<Verb> make_verify_verb();
std::unique_ptr<Verb> make_test_verb();
std::unique_ptr<Verb> make_debug_verb();
std::unique_ptr<Verb> make_open_verb();
std::unique_ptr<Verb> make_watch_verb();
std::unique_ptr<Verb> make_replay_verb();
std::unique_ptr<Verb> make_diff_verb();
std::unique_ptr<Verb> make_trace_verb();
std::unique_ptr<Verb> make_report_verb();
std::unique_ptr<Verb> make_ops_verb();
std::unique_ptr<Verb> make_machines_verb();
std::unique_ptr<Verb> make_bench_verb();
std::unique_ptr<Verb> make_gui_verb();
std::unique_ptr<Verb> make_launch_verb();
std::unique_ptr<Verb> make_serve_verb();
std::unique_ptr<Verb> make_plan_verb();
std::unique_ptr<Verb> make_completion_verb();

}  // namespace hostir::cli
