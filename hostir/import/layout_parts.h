// How the mesh axes and the local indices of a value make up its whole dimensions.
//
// A dimension is a list of parts, the major one first: the coordinate of an axis, or a local index.
// `dp, 4` has 4 elements here and is cut by `dp`. A reshape splits and joins the lists; an
// all_to_all makes a local index of an axis' coordinate, and the other way round. An axis whose
// dimension has one local element stands before a local index of size 1, so that it finds its place
// again if that dimension is joined with another and split off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostir::importer {

using AxisNames = std::vector<std::string>;

struct Part {
  std::string axis;  // empty: a local index
  int64_t size = 1;  // of a local index
  AxisNames home;    // a local index that was an axis: the axes before it, in whole terms
  bool is_axis() const { return !axis.empty(); }
};
using Parts = std::vector<Part>;

/// The axes of a dimension, the major one first.
AxisNames axes_of(const Parts& parts);
/// Gives a dimension this many local elements: one local index after all axes, unless it has them.
void set_local(Parts& parts, int64_t size);
/// Inserts axes, or parts, after the axes at the front.
void insert_axes(Parts& parts, const AxisNames& axes);
void insert_parts(Parts& parts, const Parts& more);
/// Every axis of a dimension as parts of its own: with a local index of size 1 if that is what it
/// cuts.
std::vector<Parts> axis_groups(const Parts& parts);
/// How sure the place of an axis is: 2 if it cuts several elements, 1 if the dimension has only one
/// element, 0 if that was joined with other dimensions.
int sureness(const Parts& parts, const std::string& axis);
/// Removes axes from all dimensions. Returns the axes that stood before the first of them.
AxisNames remove_axes(std::vector<Parts>& dims, const AxisNames& axes);
/// Moves axes behind the last local index of a dimension to the next dimension.
void settle(std::vector<Parts>& dims);
/// The dimensions of a reshape: matches runs of dimensions with equal products.
std::vector<Parts> regrouped(std::vector<Parts> dims, const std::vector<int64_t>& from,
                             const std::vector<int64_t>& to);
/// The same for a reshape of the elements in memory order: `from_order` and `to_order` list the
/// dimensions, the major one first.
std::vector<Parts> regrouped_in_memory(std::vector<Parts> dims, const std::vector<int64_t>& from,
                                       const std::vector<int64_t>& to,
                                       const std::vector<int64_t>& from_order,
                                       const std::vector<int64_t>& to_order);
/// The exchange of an all_to_all over `axes`, `members` devices, on dimension `d` of one operand.
void exchange(std::vector<Parts>& dims, size_t d, const AxisNames& axes, int64_t members);
/// Joins the results of an all_to_all with an operand per device along dimension `d`, where each
/// has `from` elements. `axes` then cut this dimension or, if it was a dimension of pieces, the
/// next one.
void join_exchanged(std::vector<Parts>& dims, size_t d, int64_t from, int64_t pieces,
                    const AxisNames& axes, const AxisNames& home);

}  // namespace hostir::importer
