#include "traces/import/formats/call_sizes.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace hostir::traces::import {

namespace {

/// Total elements of all tensors; nullopt if none is recorded, or the numbers are not sizes.
std::optional<int64_t> elements_of(const std::vector<Extents>& shapes) {
  if (shapes.empty()) return std::nullopt;
  int64_t all = 0;
  for (const Extents& shape : shapes) {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
      if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) return std::nullopt;
    }
    if (__builtin_add_overflow(all, elements, &all)) return std::nullopt;
  }
  return all;
}

}  // namespace

std::vector<Extents> shapes_of(io::PlainView list) {
  std::vector<Extents> shapes;
  for (size_t i = 0; i < list.size(); ++i) {
    if (auto shape = io::integer_list(list.at(i))) {
      shapes.emplace_back(shape->begin(), shape->end());
    }
  }
  return shapes;
}

void set_totals(model::Call& call, bool sizes_known) {
  if (!sizes_known || !call.kind) return;
  const auto in = elements_of(call.inputs);
  const auto out = elements_of(call.outputs);
  const auto is = [&](OpKind kind) { return call.kind == kind; };
  if (is(OpKind::all_reduce) || is(OpKind::reduce) || is(OpKind::broadcast)) {
    // In an out-of-place broadcast, only the receivers' outputs count.
    call.total_elems = call.inputs.empty() ? out : in;
    call.local_elems = call.total_elems;
  } else if (is(OpKind::all_gather)) {
    call.total_elems = call.outputs.empty() ? std::nullopt : out;
    call.local_elems = in;
  } else if (is(OpKind::reduce_scatter)) {
    call.total_elems = call.inputs.empty() ? std::nullopt : in;
    call.local_elems = out;
  } else if (is(OpKind::gather) || is(OpKind::all_to_all)) {
    call.local_elems = in;
  } else if (is(OpKind::scatter)) {
    call.local_elems = out;
  } else if (is(OpKind::send) || is(OpKind::recv)) {
    call.total_elems = in;
    call.local_elems = in;
  }
}

void set_nccl_count(model::Call& call, int64_t count, int64_t members) {
  const auto is = [&](OpKind kind) { return call.kind == kind; };
  const bool many_in = is(OpKind::reduce_scatter) || is(OpKind::all_to_all) || is(OpKind::scatter);
  const bool many_out = is(OpKind::all_gather) || is(OpKind::all_to_all) || is(OpKind::gather);
  int64_t whole = count;
  if ((many_in || many_out) && __builtin_mul_overflow(count, members, &whole)) return;
  call.inputs = {{many_in ? whole : count}};
  call.outputs = {{many_out ? whole : count}};
  call.shape = call.inputs.front();
  call.local_elems = is(OpKind::all_to_all) ? whole : count;
  call.total_elems = is(OpKind::gather) || is(OpKind::scatter) ? count : whole;
}

void set_splits(model::Call& call, io::PlainView entry, size_t members) {
  const auto each = [&](const std::vector<Extents>& shapes) {
    std::vector<int64_t> elements;
    if (members < 2 || shapes.size() != members) return elements;
    for (const Extents& shape : shapes) {
      const auto n = elements_of({shape});
      if (!n) return std::vector<int64_t>();
      elements.push_back(*n);
    }
    return elements;
  };
  const auto list = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const auto numbers = io::integer_list(entry[name]);
      if (numbers && members > 0 && numbers->size() == members) return *numbers;
    }
    return std::vector<int64_t>();
  };
  call.sends = list({"input_split_sizes", "input_splits", "in_split_sizes", "in_splits"});
  call.receives = list({"output_split_sizes", "output_splits", "out_split_sizes", "out_splits"});
  if (call.sends.empty()) call.sends = each(call.inputs);
  if (call.receives.empty()) call.receives = each(call.outputs);
}

}  // namespace hostir::traces::import
