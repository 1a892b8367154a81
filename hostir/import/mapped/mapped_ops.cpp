#include "hostir/import/mapped/mapped_ops.h"

#include <algorithm>
#include <array>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/ops/indexing_parts.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

// Operations that pass values on or contain blocks. Their handlers run as usual; the operations
// inside come here one by one.
constexpr std::array<std::string_view, 14> kPassing = {"func.call",
                                                       "stablehlo.composite",
                                                       "stablehlo.while",
                                                       "stablehlo.case",
                                                       "stablehlo.if",
                                                       "stablehlo.custom_call",
                                                       "stablehlo.optimization_barrier",
                                                       "sdy.manual_computation",
                                                       "sdy.named_computation",
                                                       "stablehlo.tuple",
                                                       "stablehlo.get_tuple_element",
                                                       "sdy.propagation_barrier",
                                                       "sdy.sharding_group",
                                                       "sdy.data_flow_edge"};
constexpr std::array<std::string_view, 6> kCollectives = {
    "stablehlo.all_reduce", "stablehlo.all_gather",         "stablehlo.reduce_scatter",
    "stablehlo.all_to_all", "stablehlo.collective_permute", "stablehlo.collective_broadcast"};

void put_attribute(ModuleOp& op, std::string_view name, Attr value) {
  for (NamedAttr& attribute : op.attributes) {
    if (attribute.first != name) continue;
    attribute.second = std::move(value);
    return;
  }
  op.attributes.emplace_back(name, std::move(value));
}

Dims shifted(Dims dims, size_t by) {
  for (int64_t& d : dims) d += static_cast<int64_t>(by);
  return dims;
}

Dims prefixed(const Dims& front, const Dims& dims) {
  Dims out = front;
  out.insert(out.end(), dims.begin(), dims.end());
  return out;
}

// Applies `how` to each of these attributes that the operation has.
void change(ModuleOp& op, std::initializer_list<std::string_view> names,
            const std::function<Dims(Dims)>& how) {
  for (const std::string_view name : names) {
    if (op.find(name) != nullptr) put_attribute(op, name, Attr::of_ints(how(op.integers(name))));
  }
}

Attr two_lists(const Dims& left, const Dims& right) {
  Attr out;
  out.kind = Attr::Kind::kList;
  out.items = {Attr::of_ints(left), Attr::of_ints(right)};
  return out;
}

// Makes the leading dimensions batch dimensions on both sides.
void map_contraction(ModuleOp& op, size_t lead, size_t left_rank) {
  Dims batch[2];
  Dims contracted[2];
  if (op.name == "stablehlo.dot") {
    op.name = "stablehlo.dot_general";
    contracted[0] = {static_cast<int64_t>(left_rank) - 1};
    contracted[1] = {0};
  }
  const auto two = [&](std::string_view name, Dims* to) {
    const Attr* lists = op.find(name);
    if (lists == nullptr || lists->items.size() != 2) return;
    for (size_t i = 0; i < 2; ++i) to[i] = lists->items[i].integers();
  };
  two("batching_dims", batch);
  two("contracting_dims", contracted);
  if (const Attr* numbers = op.find("dot_dimension_numbers")) {
    const auto list = [&](std::string_view name, Dims& to) {
      if (const Attr* field = numbers->find(name)) to = field->integers();
    };
    list("lhs_batching_dimensions", batch[0]);
    list("rhs_batching_dimensions", batch[1]);
    list("lhs_contracting_dimensions", contracted[0]);
    list("rhs_contracting_dimensions", contracted[1]);
  }
  std::erase_if(op.attributes,
                [](const NamedAttr& a) { return a.first == "dot_dimension_numbers"; });
  for (Dims& dims : batch) dims = prefixed(counting(lead), shifted(dims, lead));
  for (Dims& dims : contracted) dims = shifted(dims, lead);
  put_attribute(op, "batching_dims", two_lists(batch[0], batch[1]));
  put_attribute(op, "contracting_dims", two_lists(contracted[0], contracted[1]));
}

// chlo.ragged_dot, in the same way.
bool map_ragged(ModuleOp& op, size_t lead) {
  const Attr* numbers = op.find("ragged_dot_dimension_numbers");
  if (numbers == nullptr) return false;
  Attr mapped = *numbers;
  for (NamedAttr& field : mapped.fields) {
    Dims dims = shifted(field.second.integers(), lead);
    if (field.first == "lhs_batching_dimensions" || field.first == "rhs_batching_dimensions")
      dims = prefixed(counting(lead), dims);
    field.second = Attr::of_ints(dims);
  }
  put_attribute(op, "ragged_dot_dimension_numbers", std::move(mapped));
  put_attribute(op, "lead", Attr::of_int(static_cast<int64_t>(lead)));
  return true;
}

// Shifts the dimensions in an operation's attributes by the number of leading ones. False if the
// operation has no such form.
bool map_attributes(ModuleOp& op, const Dims& lead, size_t rank) {
  const size_t k = lead.size();
  const auto behind = [k](Dims dims) { return shifted(std::move(dims), k); };
  const auto with_lead = [k](Dims dims) {
    return prefixed(counting(k), shifted(std::move(dims), k));
  };
  const auto with = [k](int64_t value) {
    return [k, value](Dims dims) { return prefixed(Dims(k, value), dims); };
  };
  const std::string_view name = op.name;
  if (name == "stablehlo.broadcast_in_dim" || name == "stablehlo.transpose") {
    change(op, {"dims", "broadcast_dimensions", "permutation"}, with_lead);
  } else if (name == "stablehlo.slice") {
    change(op, {"start_indices"}, with(0));
    change(op, {"limit_indices"}, [&](Dims dims) { return prefixed(lead, dims); });
    change(op, {"strides"}, with(1));
  } else if (name == "stablehlo.concatenate") {
    const int64_t dim = op.integer_or("dim", op.integer_or("dimension", 0));
    put_attribute(op, "dim", Attr::of_int(dim + static_cast<int64_t>(k)));
  } else if (name == "stablehlo.pad") {
    change(op,
           {"low", "high", "interior", "edge_padding_low", "edge_padding_high", "interior_padding"},
           with(0));
  } else if (name == "stablehlo.reverse") {
    change(op, {"dims", "dimensions"}, behind);
  } else if (name == "stablehlo.reduce") {
    change(op, {"dimensions"}, behind);
  } else if (name == "stablehlo.reduce_window" || name == "stablehlo.select_and_scatter") {
    change(op, {"window_dimensions", "window_strides", "base_dilations", "window_dilations"},
           with(1));
    change(op, {"padding"}, [k](Dims dims) { return prefixed(Dims(2 * k, 0), dims); });
  } else if (name == "stablehlo.convolution") {
    put_attribute(op, "lead", Attr::of_int(static_cast<int64_t>(k)));
  } else if (name == "stablehlo.sort") {
    int64_t dim = op.integer_or("dimension", -1);
    if (dim < 0) dim += static_cast<int64_t>(rank);
    put_attribute(op, "dimension", Attr::of_int(dim + static_cast<int64_t>(k)));
  } else if (name == "stablehlo.dot_general" || name == "stablehlo.dot") {
    map_contraction(op, k, rank);
  } else if (name == "chlo.ragged_dot") {
    return map_ragged(op, k);
  } else if (name == "stablehlo.cholesky" || name == "stablehlo.triangular_solve" ||
             name == "hostir.potrf" || name == "hostir.trsm") {
    return true;  // any dimensions in front are a batch
  } else {
    return name == "stablehlo.reshape" || name == "stablehlo.bitcast_convert" ||
           name == "chlo.top_k" || is_pointwise(name);
  }
  return true;
}

AxisPositions united(const OpSite& s) {
  AxisPositions out;
  for (size_t i = 0; i < s.count(); ++i)
    out.insert(out.end(), s.in(i).lead.begin(), s.in(i).lead.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Expected<bool> MappedOps::take(const OpSite& s) {
  const std::string_view name = s.op.name;
  if (name == "stablehlo.partition_id" || name == "stablehlo.replica_id") return device_number(s);
  if (contains(kPassing, name)) return false;
  if (contains(kCollectives, name)) {
    HOSTIR_TRY(collective(s));
    return true;
  }
  const AxisPositions lead = united(s);
  if (lead.empty()) return false;
  if (name == "stablehlo.gather" || name == "stablehlo.scatter") {
    HOSTIR_TRY(indexed(s, lead));
  } else if (name == "stablehlo.dynamic_slice" || name == "stablehlo.dynamic_update_slice") {
    HOSTIR_TRY(moving_slice(s, lead));
  } else {
    HOSTIR_TRY(mapped(s, lead));
  }
  return true;
}

Expected<void> MappedOps::give(const OpSite& s, Known whole, const AxisPositions& lead,
                               size_t result) {
  return s.set(map_.part(std::move(whole), lead, s.result_type(result)), result);
}

Expected<void> MappedOps::mapped(const OpSite& s, const AxisPositions& lead) {
  auto& [function, frame] = scratch_[&s.function];
  const size_t count = s.function.values.size();
  if (function.values.empty()) function.values = s.function.values;
  if (function.values.size() < count + s.count()) function.values.resize(count + s.count());
  frame.resize(function.values.size());
  ModuleOp op = s.op;
  const Dims sizes = map_.sizes(lead);
  if (op.name.starts_with("sdy.") && op.find("sharding") != nullptr) {
    Attr attr = *op.find("sharding");
    for (Sharding& sharding : attr.shardings) {
      for (size_t i = lead.size(); i-- > 0;) {
        const AxisRef axis{map_.mesh().axes[lead[i]].name};
        sharding.dims.insert(sharding.dims.begin(), DimSharding{{axis}});
      }
    }
    put_attribute(op, "sharding", std::move(attr));
  } else if (!map_attributes(op, sizes, s.in(0).type.dims.size())) {
    return s.fail("import_c8", "cannot be mapped over the devices of a manual computation");
  }
  // The initial values of a reduction and the value of a padding stay scalars.
  size_t scalars = s.count();
  if (op.name == "stablehlo.reduce" || op.name == "stablehlo.reduce_window")
    scalars = s.count() / 2;
  if (op.name == "stablehlo.pad") scalars = 1;
  if (op.name == "stablehlo.select_and_scatter") scalars = 2;
  const bool wide = is_pointwise(op.name) && !s.result_type().dims.empty();
  for (size_t i = 0; i < s.count(); ++i) {
    Known x = s.in(i);
    if (i >= scalars) {
      if (!x.lead.empty())
        return s.fail("import_c8",
                      "its scalar differs between the devices of a manual computation");
    } else if (wide && x.type.dims.empty()) {
      if (!x.is_number()) {
        HOSTIR_ASSIGN_OR_RETURN(const Known all, map_.lifted(s.emitter, x, lead));
        HOSTIR_ASSIGN_OR_RETURN(x, s.emitter.broadcast(all, counting(lead.size()),
                                                       prefixed(sizes, s.result_type().dims)));
      }
    } else {
      HOSTIR_ASSIGN_OR_RETURN(x, map_.lifted(s.emitter, x, lead));
    }
    op.operands[i] = static_cast<ValueNumber>(count + i);
    function.values[count + i].type = x.type;
    frame[count + i] = std::move(x);
  }
  for (size_t r = 0; r < op.results.size(); ++r) {
    function.values[op.results[r]].type = s.result_type(r);
    function.values[op.results[r]].type.dims = prefixed(sizes, s.result_type(r).dims);
  }
  const OpSite site{s.emitter, function, op, frame};
  if (auto number = folded(site)) {
    HOSTIR_TRY(site.set(std::move(*number)));
  } else {
    const HandlerRow* row = find_handler(op.name);
    if (row == nullptr || s.count() < row->least)
      return s.fail("import_c2", "takes a different number of operands");
    HOSTIR_TRY(row->handler(site));
  }
  for (size_t r = 0; r < op.results.size(); ++r)
    HOSTIR_TRY(give(s, std::move(*frame[op.results[r]]), lead, r));
  return {};
}

// The leading dimensions are batch dimensions of the operands that have them. If the indices are
// equal on all devices, they belong to the window instead.
Expected<void> MappedOps::indexed(const OpSite& s, const AxisPositions& lead) {
  Emitter& e = s.emitter;
  const bool gathers = s.op.name == "stablehlo.gather";
  if (!gathers && s.count() != 3)
    return s.fail("import_c8", "a scatter of several tensors in a manual computation");
  auto numbers = gathers ? gather_numbers(s) : scatter_numbers(s);
  HOSTIR_TRY(numbers);
  IndexingNumbers n = std::move(*numbers);
  const size_t k = lead.size();
  const Dims sizes = map_.sizes(lead);
  const bool indices_differ = !s.in(1).lead.empty();
  const bool operand_differs = !gathers || !s.in(0).lead.empty();
  n.window = shifted(n.window, k);
  if (indices_differ) {
    n.index_batch = shifted(n.index_batch, k);
    n.vector_dim += static_cast<int64_t>(k);
  }
  if (operand_differs) {
    for (Dims* dims : {&n.dropped, &n.operand_batch, &n.map}) *dims = shifted(*dims, k);
    n.sizes = prefixed(indices_differ ? Dims(k, 1) : sizes, n.sizes);
    if (indices_differ) {
      n.operand_batch = prefixed(counting(k), n.operand_batch);
      n.index_batch = prefixed(counting(k), n.index_batch);
    } else {
      n.window = prefixed(counting(k), n.window);
    }
  }
  const AxisPositions none;
  HOSTIR_ASSIGN_OR_RETURN(const Known x, map_.lifted(e, s.in(0), operand_differs ? lead : none));
  HOSTIR_ASSIGN_OR_RETURN(const Known at, map_.lifted(e, s.in(1), indices_differ ? lead : none));
  if (gathers) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, gathered(e, x, at, n));
    return give(s, std::move(y), lead, 0);
  }
  const auto mode = scatter_mode(s);
  if (!mode) return s.fail("import_c8", "a scatter that neither sets nor adds");
  HOSTIR_ASSIGN_OR_RETURN(const Known updates, map_.lifted(e, s.in(2), lead));
  HOSTIR_ASSIGN_OR_RETURN(Known y, scattered(e, x, at, updates, n, *mode));
  return give(s, std::move(y), lead, 0);
}

}  // namespace hostir::importer
