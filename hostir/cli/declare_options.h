// The options that several verbs share, declared once: they fill the structs of hostir/api.
#pragma once

#include "hostir/api/open/program_options.h"
#include "hostir/api/open/run_log.h"
#include "hostir/cli/arguments.h"

namespace hostir::cli {

/// File, function, mesh, sizes. The structs must outlive parsing. `mesh_help`: what --mesh does.
void declare_program(api::ProgramOptions& options, Arguments& arguments,
                     const std::string& mesh_help = "resize a mesh axis, e.g. tp=4");
/// The same without --ranks.
void declare_file(api::ProgramOptions& options, Arguments& arguments, const std::string& mesh_help);
void declare_gradient(api::ProgramOptions& options, Arguments& arguments);
void declare_inputs(api::ProgramOptions& options, Arguments& arguments);
void declare_backend(api::BackendOptions& options, Arguments& arguments);
/// How far the import unrolls loops.
void declare_loop_passes(std::optional<int64_t>& passes, Arguments& arguments);
void declare_log(api::LogOptions& options, Arguments& arguments);

}  // namespace hostir::cli
