// How mesh axes and local indices together form the dimensions of a whole value.
//
// A dimension is a list of parts, the major one first. A part is the coordinate of an axis or a
// local index. `dp, 4` means that `dp` cuts the dimension and that each device holds 4 elements.
// `2, dp, 4` means that each device holds two blocks of 4 elements with a gap between them; no
// sharding can express this. A reshape splits and joins the lists. An all_to_all replaces an axis
// by a local index and a local index by an axis. If a device holds one element of a dimension, a
// local index of size 1 follows the axis. It marks the place of the axis when a reshape joins the
// dimension with another one and splits it off again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hostir::importer {

using AxisNames = std::vector<std::string>;

struct Part {
  std::string axis;  // empty: a local index
  int64_t size = 1;  // of a local index
  AxisNames home;    // of a local index that replaced an axis: the axes that preceded that axis
  bool is_axis() const { return !axis.empty(); }
};
using Parts = std::vector<Part>;

/// The axes of a dimension, the major one first.
AxisNames axes_of(const Parts& parts);
/// Sets the number of local elements of a dimension. If it has another number, one local index
/// after all axes replaces its local indices.
void set_local(Parts& parts, int64_t size);
/// Inserts axes, or parts, after the axes at the front.
void insert_axes(Parts& parts, const AxisNames& axes);
void insert_parts(Parts& parts, const Parts& more);
/// Replaces an axis by a local index: an all_gather over it. Joins adjacent local indices.
void gather_axis(Parts& parts, const std::string& axis, int64_t size);
/// Replaces the major part of the local elements by an axis: each device keeps a slice of them.
void scatter_axis(Parts& parts, const std::string& axis, int64_t size);
/// Replaces the axes of a dimension by others that make as many parts. They take the places of the
/// old ones if there are as many; otherwise all of them take the place of the first.
void replace_axes(Parts& parts, const AxisNames& axes);
/// Whether each device holds several blocks with gaps between them: a local index of more than one
/// element precedes an axis.
bool has_gaps(const Parts& parts);
/// `{2, dp, 4}`.
std::string text_of(const Parts& parts);
/// Each axis of a dimension as a list of its own. A local index of size 1 follows an axis if it
/// did so before.
std::vector<Parts> axis_groups(const Parts& parts);
/// Inserts the group of an axis where `order`, the same dimension of another value, has it: after
/// the axis before it, else before the axis after it, else as insert_parts does.
void insert_in_order(Parts& parts, const Parts& group, const Parts& order);
/// How certain the place of an axis is: 2 if devices hold several elements along its dimension, 1
/// if they hold one, 0 if such a dimension was joined with others.
int sureness(const Parts& parts, const std::string& axis);
/// Removes axes from all dimensions. Returns the axes that preceded the first of them.
AxisNames remove_axes(std::vector<Parts>& dims, const AxisNames& axes);
/// Moves axes that follow the last local index of a dimension to the next dimension.
void carry_over(std::vector<Parts>& dims);
/// The only dimension whose size a slice changes; nullopt if there are several or none.
std::optional<size_t> only_changed(const std::vector<int64_t>& from,
                                   const std::vector<int64_t>& to);
/// Where dimension `d` is after a reshape: after as many elements, with the same size; the last
/// such place if there are several.
std::optional<size_t> same_place(size_t d, const std::vector<int64_t>& from,
                                 const std::vector<int64_t>& to);
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
/// Joins the results of an all_to_all that has one operand per device. Each result has `from`
/// elements along dimension `d`. `axes` then cut dimension `cut_dim`, the one that was
/// sliced into operands. If it is not known: dimension `d`, or the next one if `d` only counted the
/// pieces.
void join_exchanged(std::vector<Parts>& dims, size_t d, int64_t from, int64_t pieces,
                    const AxisNames& axes, const AxisNames& home, std::optional<size_t> cut_dim);

}  // namespace hostir::importer
