// Builds a fusion from a module's entry function, with global shapes and the module's shardings.
#pragma once

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// Adds the module's meshes. Equal meshes with different names are added once; meshes of one device
/// are skipped.
void add_meshes(const Module& module, Program& program);

/// A valid identifier made from `name`: letters, digits, `_`.
std::string plain_name(std::string_view name, std::string_view fallback);

/// Appends the fusion. The program must already have the meshes.
Expected<void> build_fusion(const Module& module, const ModuleFunction& entry, Program& program,
                            ImportReport& report);

/// Removes instructions with unused results; fusions and kernels have no side effects.
void drop_unused(Function& function);

/// Appends a `return` of these values to the body.
void add_return(Function& function, const std::vector<ValueId>& values);

/// The name that JAX gives a result: `result['w1']` gives "w1"; `result[0]` gives no name.
std::string result_name(const Port& port);

}  // namespace hostir::importer
