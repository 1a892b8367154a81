// Gathers and scatters that address one dimension of the operand, where every other dimension is
// paired with a batch dimension of the indices or taken whole.
//
// They become `take_along` and `put_along`: the paired dimensions stay dimensions, so they can be
// cut. JAX's vmap and take_along_axis give this form.
#pragma once

#include <optional>

#include "hostir/import/ops/indexing_parts.h"

namespace hostir::importer {

/// How the windows lie along the addressed dimension. The operands of take_along and put_along have
/// one place there for every index of the unpaired batch dimensions and every place in a window.
struct AlongForm {
  size_t dim = 0;      // the addressed dimension of the operand
  int64_t length = 1;  // of a window
  Dims index_order;  // the batch dimensions of the indices in operand order, unpaired ones at `dim`
  Dims lead;         // sizes of the paired dimensions before `dim`
  Dims tail;         // sizes of those after it
  Dims joined;       // sizes of the operand with all places along `dim`
  Dims apart;       // the same with unpaired dimensions and the window, if it is kept, in its place
  Dims to_windows;  // permutation of `apart` to [batch..., kept dims in operand order]
};

std::optional<AlongForm> along_form(const Known& x, const Known& indices, const IndexingNumbers& n);
Expected<Known> taken_along(Emitter& e, const Known& x, const Known& indices,
                            const IndexingNumbers& n, const AlongForm& form);
Expected<Known> put_along(Emitter& e, const Known& base, const Known& indices, const Known& updates,
                          const IndexingNumbers& n, const AlongForm& form, const std::string& mode);

}  // namespace hostir::importer
