// Matrices in the last two dimensions of known values, for the handlers that write out linear
// algebra. Leading dimensions are a batch.
#pragma once

#include <utility>
#include <vector>

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

using Dims = std::vector<int64_t>;

class Matrices {
 public:
  explicit Matrices(Emitter& e) : e_(e) {}

  /// Rows [top, bottom) and columns [left, right).
  Expected<Known> block(const Known& a, int64_t top, int64_t bottom, int64_t left, int64_t right) {
    const size_t rank = a.type.dims.size();
    Dims start(rank, 0);
    Dims limit = a.type.dims;
    start[rank - 2] = top;
    limit[rank - 2] = bottom;
    start[rank - 1] = left;
    limit[rank - 1] = right;
    return e_.sliced(a, start, limit, Dims(rank, 1));
  }
  Expected<Known> rows(const Known& a, int64_t top, int64_t bottom) {
    return block(a, top, bottom, 0, a.type.dims.back());
  }
  Expected<Known> flipped(const Known& a) {
    Dims order = identity(a.type.dims.size());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e_.transposed(a, order);
  }
  Expected<Known> spread(const Known& a, const Dims& to) {
    return e_.broadcast(a, identity(to.size()), to);
  }
  /// a - column row, for a column [.., n, 1] and a row [.., 1, m].
  Expected<Known> less_product(const Known& a, const Known& column, const Known& row) {
    HOSTIR_ASSIGN_OR_RETURN(const Known left, spread(column, a.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(const Known right, spread(row, a.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(const Known product, e_.apply(OpKind::mul, {left, right}));
    return e_.apply(OpKind::sub, {a, product});
  }
  Expected<Known> over(const Known& a, const Known& pivot) {
    HOSTIR_ASSIGN_OR_RETURN(const Known wide, spread(pivot, a.type.dims));
    return e_.apply(OpKind::div, {a, wide});
  }
  /// Zero rows above: [.., k, m] becomes [.., n, m].
  Expected<Known> below_zeros(const Known& a, int64_t n) {
    ModuleType zeros = a.type;
    zeros.dims[zeros.dims.size() - 2] = n - a.type.dims[a.type.dims.size() - 2];
    return e_.concatenated({e_.number(0, zeros), a}, zeros.dims.size() - 2);
  }
  Expected<Known> stacked(std::vector<Known> parts) {
    const size_t rank = parts.front().type.dims.size();
    return parts.size() == 1 ? parts.front() : e_.concatenated(std::move(parts), rank - 2);
  }
  Expected<Known> side_by_side(std::vector<Known> parts) {
    const size_t rank = parts.front().type.dims.size();
    return parts.size() == 1 ? parts.front() : e_.concatenated(std::move(parts), rank - 1);
  }
  Emitter& emitter() { return e_; }

 private:
  static Dims identity(size_t rank) {
    Dims out;
    for (size_t d = 0; d < rank; ++d) out.push_back(static_cast<int64_t>(d));
    return out;
  }
  Emitter& e_;
};

}  // namespace hostir::importer
