// The fusion of a module's entry function: global shapes, the shardings that the text gives.
#pragma once

#include "hostir/import/emitter.h"

namespace hostir::importer {

/// Each mesh once, whatever the module calls it; meshes of one device are left out.
void add_meshes(const Module& module, Program& program);

/// A name that our grammar takes: letters, digits, `_`.
std::string plain_name(std::string_view name, std::string_view fallback);

/// Appends the fusion. The program's meshes must be there.
Expected<void> build_fusion(const Module& module, const ModuleFunction& entry, Program& program,
                            ImportReport& report);

/// Leaves out instructions whose results nobody uses: fusions and kernels have no effects.
void drop_unused(Function& function);

/// `return` of these values at the end of the body.
void add_return(Function& function, const std::vector<ValueId>& values);

}  // namespace hostir::importer
