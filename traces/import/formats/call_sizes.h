// The sizes in a Flight Recorder's entries, and in what NCCL records.
#pragma once

#include <vector>

#include "hostir/io/plain_value.h"
#include "interp/model/run.h"

namespace hostir::traces::import {

/// `[[64, 64], [3]]`; ignores what is not a shape.
std::vector<Extents> shapes_of(io::PlainView list);
/// Sets the fields that must be equal on all members of a collective of this kind.
void set_totals(model::Call& call, bool sizes_known);
/// Sets all sizes from NCCL's count: elements sent per member in an all_gather or gather, received
/// per member in a reduce_scatter or scatter, per pair of members in an all_to_all, else of the
/// whole call. `kind` must be set.
void set_nccl_count(model::Call& call, int64_t count, int64_t members);
/// Sets the sizes of an all_to_all's blocks: a list of tensors per member, or the split lists of
/// 2.11, give them.
void set_splits(model::Call& call, io::PlainView entry, size_t members);

}  // namespace hostir::traces::import
