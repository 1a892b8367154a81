// LU and QR: the LAPACK and cuSOLVER calls that JAX writes for solve, inv, det, lu and qr.
//
// A factorisation is written out column by column, in place: the factors lie where LAPACK puts
// them. LU chooses the first of the largest pivots; QR uses Householder reflectors 1 - tau v v'.

#include <algorithm>

#include "hostir/import/emit/formula.h"
#include "hostir/import/ops/matrices.h"

namespace hostir::importer {

namespace {

constexpr int64_t kMaxColumns = 512;  // about 25 instructions each

Expected<void> not_factored(const OpSite& s) {
  const Attr* callee = s.op.find("callee");
  return s.emitter.opaque(s, (callee != nullptr ? "@" + callee->text + ", " : "") +
                                 "needs matrices of floats with at most 512 rows and columns");
}

bool can_decompose(const ModuleType& type) {
  const size_t rank = type.dims.size();
  return type.is_tensor() && rank >= 2 && (type.element == "f32" || type.element == "f64") &&
         std::min(type.dims[rank - 1], type.dims[rank - 2]) >= 1 &&
         std::max(type.dims[rank - 1], type.dims[rank - 2]) <= kMaxColumns;
}

class Factors {
 public:
  explicit Factors(const OpSite& s)
      : e_(s.emitter), m_(s.emitter), a_(s.in(0)), batch_(a_.type.dims) {
    columns_ = batch_.back();
    batch_.pop_back();
    rows_ = batch_.back();
    batch_.pop_back();
  }

  Expected<void> keep_whole() {
    HOSTIR_ASSIGN_OR_RETURN(a_, e_.kept_whole(a_, 2));
    return {};
  }

  struct Lu {
    Known factors;
    Known pivots;  // i32, counted from 1
    Known failed;  // i32: 0, or the number of the first pivot that is 0
  };

  Expected<Lu> lu() {
    Known failed = e_.integer(0, tensor_type("i32", batch_));
    std::vector<Known> pivots;
    for (int64_t j = 0; j < std::min(rows_, columns_); ++j) {
      HOSTIR_ASSIGN_OR_RETURN(Known pivot, swap_largest(j));
      pivots.push_back(std::move(pivot));
      HOSTIR_TRY(eliminate(j, failed));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known all, joined(std::move(pivots)));
    return Lu{a_, std::move(all), std::move(failed)};
  }

  /// Leaves R and the reflectors in `factors()`; returns tau.
  Expected<Known> qr() {
    std::vector<Known> taus;
    for (int64_t j = 0; j < std::min(rows_, columns_); ++j) {
      HOSTIR_ASSIGN_OR_RETURN(const Known tau, reflect(j));
      HOSTIR_ASSIGN_OR_RETURN(Known flat, e_.reshaped(tau, one_each()));
      taus.push_back(std::move(flat));
    }
    return joined(std::move(taus));
  }

  /// The first columns of the product of the reflectors.
  Expected<Known> product(const Known& taus) {
    HOSTIR_ASSIGN_OR_RETURN(const Known down, place(a_.type.dims, batch_.size()));
    HOSTIR_ASSIGN_OR_RETURN(const Known across, place(a_.type.dims, batch_.size() + 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known same, e_.compared(down, across, "eq"));
    HOSTIR_ASSIGN_OR_RETURN(Known q, e_.cast(same, a_.type.element));
    for (int64_t j = taus.type.dims.back(); j-- > 0;) {
      HOSTIR_ASSIGN_OR_RETURN(const Known v, reflector(j));
      Dims start(taus.type.dims.size(), 0);
      Dims limit = taus.type.dims;
      start.back() = j;
      limit.back() = j + 1;
      HOSTIR_ASSIGN_OR_RETURN(Known tau, e_.sliced(taus, start, limit, Dims(start.size(), 1)));
      HOSTIR_ASSIGN_OR_RETURN(tau, e_.reshaped(tau, single()));
      HOSTIR_ASSIGN_OR_RETURN(const Known part, m_.block(q, j, rows_, j, columns_));
      HOSTIR_ASSIGN_OR_RETURN(const Known turned, reflected(part, v, tau));
      HOSTIR_ASSIGN_OR_RETURN(q, with_corner(q, j, {turned}));
    }
    return q;
  }

  const Known& factors() const { return a_; }

 private:
  Dims single() const {
    Dims out = batch_;
    out.insert(out.end(), {1, 1});
    return out;
  }
  Dims one_each() const {
    Dims out = batch_;
    out.push_back(1);
    return out;
  }
  Expected<Known> joined(std::vector<Known> each) {
    if (each.size() == 1) return each.front();
    return e_.concatenated(std::move(each), batch_.size());
  }
  Expected<Known> chosen(const Known& when, const Known& yes, const Known& no) {
    return e_.apply(OpKind::select, {when, yes, no});
  }
  // The position along a dimension.
  Expected<Known> place(const Dims& dims, size_t dim) {
    const ModuleType type = tensor_type("i32", dims);
    Attributes attributes;
    attributes.set("dim", static_cast<int64_t>(dim));
    return e_.apply(OpKind::iota, {}, std::move(attributes), &type);
  }

  // `a` with its rows and columns from j on replaced by these parts, side by side.
  Expected<Known> with_corner(const Known& a, int64_t j, std::vector<Known> parts) {
    if (j > 0) {
      HOSTIR_ASSIGN_OR_RETURN(Known left, m_.block(a, j, rows_, 0, j));
      parts.insert(parts.begin(), std::move(left));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known bottom, m_.side_by_side(std::move(parts)));
    if (j == 0) return bottom;
    HOSTIR_ASSIGN_OR_RETURN(Known top, m_.rows(a, 0, j));
    return m_.stacked({std::move(top), std::move(bottom)});
  }

  // Swaps row j with the one below that has the largest element in column j. Returns its number.
  Expected<Known> swap_largest(int64_t j) {
    HOSTIR_ASSIGN_OR_RETURN(Known column, m_.block(a_, j, rows_, j, j + 1));
    Dims flat = batch_;
    flat.push_back(rows_ - j);
    HOSTIR_ASSIGN_OR_RETURN(column, e_.reshaped(column, flat));
    HOSTIR_ASSIGN_OR_RETURN(column, e_.apply(OpKind::abs, {column}));
    const auto along = static_cast<int64_t>(batch_.size());
    HOSTIR_ASSIGN_OR_RETURN(Known top, e_.reduced(OpKind::reduce_max, column, {along}));
    HOSTIR_ASSIGN_OR_RETURN(top, e_.reshaped(top, one_each()));
    HOSTIR_ASSIGN_OR_RETURN(top, m_.spread(top, flat));
    HOSTIR_ASSIGN_OR_RETURN(const Known is_top, e_.compared(column, top, "eq"));
    HOSTIR_ASSIGN_OR_RETURN(Known found, place(flat, batch_.size()));
    HOSTIR_ASSIGN_OR_RETURN(found, chosen(is_top, found, e_.integer(rows_ - j - 1, found.type)));
    HOSTIR_ASSIGN_OR_RETURN(found, e_.reduced(OpKind::reduce_min, found, {along}));
    HOSTIR_ASSIGN_OR_RETURN(found, e_.apply(OpKind::add, {found, e_.integer(j, found.type)}));
    HOSTIR_ASSIGN_OR_RETURN(const Known wide, e_.reshaped(found, single()));
    HOSTIR_ASSIGN_OR_RETURN(const Known spread, m_.spread(wide, a_.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(const Known down, place(a_.type.dims, batch_.size()));
    HOSTIR_ASSIGN_OR_RETURN(const Known there, e_.compared(down, spread, "eq"));
    HOSTIR_ASSIGN_OR_RETURN(const Known only, chosen(there, a_, e_.number(0, a_.type)));
    HOSTIR_ASSIGN_OR_RETURN(
        Known largest, e_.reduced(OpKind::reduce_sum, only, {static_cast<int64_t>(batch_.size())}));
    Dims as_row = batch_;
    as_row.insert(as_row.end(), {1, columns_});
    HOSTIR_ASSIGN_OR_RETURN(largest, e_.reshaped(largest, as_row));
    HOSTIR_ASSIGN_OR_RETURN(const Known here, m_.rows(a_, j, j + 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known down_there, m_.spread(here, a_.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(const Known moved, chosen(there, down_there, a_));
    std::vector<Known> rows;
    if (j > 0) {
      HOSTIR_ASSIGN_OR_RETURN(Known above, m_.rows(moved, 0, j));
      rows.push_back(std::move(above));
    }
    rows.push_back(std::move(largest));
    if (j + 1 < rows_) {
      HOSTIR_ASSIGN_OR_RETURN(Known below, m_.rows(moved, j + 1, rows_));
      rows.push_back(std::move(below));
    }
    HOSTIR_ASSIGN_OR_RETURN(a_, m_.stacked(std::move(rows)));
    HOSTIR_ASSIGN_OR_RETURN(found, e_.apply(OpKind::add, {found, e_.integer(1, found.type)}));
    return e_.reshaped(found, one_each());
  }

  // Divides the column below the pivot by it, and subtracts its product with the row from the rest.
  Expected<void> eliminate(int64_t j, Known& failed) {
    HOSTIR_ASSIGN_OR_RETURN(Known pivot, m_.block(a_, j, j + 1, j, j + 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known zero, e_.compared(pivot, e_.number(0, pivot.type), "eq"));
    HOSTIR_ASSIGN_OR_RETURN(const Known is_zero, e_.reshaped(zero, batch_));
    HOSTIR_ASSIGN_OR_RETURN(const Known fresh,
                            e_.compared(failed, e_.integer(0, failed.type), "eq"));
    HOSTIR_ASSIGN_OR_RETURN(const Known now, chosen(fresh, e_.integer(j + 1, failed.type), failed));
    HOSTIR_ASSIGN_OR_RETURN(failed, chosen(is_zero, now, failed));
    if (j + 1 == rows_) return {};
    HOSTIR_ASSIGN_OR_RETURN(pivot, chosen(zero, e_.number(1, pivot.type), pivot));
    HOSTIR_ASSIGN_OR_RETURN(Known under, m_.block(a_, j + 1, rows_, j, j + 1));
    HOSTIR_ASSIGN_OR_RETURN(under, m_.over(under, pivot));
    std::vector<Known> parts;
    if (j > 0) {
      HOSTIR_ASSIGN_OR_RETURN(Known left, m_.block(a_, j + 1, rows_, 0, j));
      parts.push_back(std::move(left));
    }
    parts.push_back(under);
    if (j + 1 < columns_) {
      HOSTIR_ASSIGN_OR_RETURN(const Known row, m_.block(a_, j, j + 1, j + 1, columns_));
      HOSTIR_ASSIGN_OR_RETURN(const Known rest, m_.block(a_, j + 1, rows_, j + 1, columns_));
      HOSTIR_ASSIGN_OR_RETURN(Known less, m_.less_product(rest, under, row));
      parts.push_back(std::move(less));
    }
    HOSTIR_ASSIGN_OR_RETURN(Known bottom, m_.side_by_side(std::move(parts)));
    HOSTIR_ASSIGN_OR_RETURN(Known top, m_.rows(a_, 0, j + 1));
    HOSTIR_ASSIGN_OR_RETURN(a_, m_.stacked({std::move(top), std::move(bottom)}));
    return {};
  }

  // c - tau v (v' c)
  Expected<Known> reflected(const Known& c, const Known& v, const Known& tau) {
    HOSTIR_ASSIGN_OR_RETURN(const Known wide, m_.spread(v, c.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(const Known product, e_.apply(OpKind::mul, {wide, c}));
    HOSTIR_ASSIGN_OR_RETURN(
        Known row, e_.reduced(OpKind::reduce_sum, product, {static_cast<int64_t>(batch_.size())}));
    Dims as_row = batch_;
    as_row.insert(as_row.end(), {1, c.type.dims.back()});
    HOSTIR_ASSIGN_OR_RETURN(row, e_.reshaped(row, as_row));
    HOSTIR_ASSIGN_OR_RETURN(const Known scale, m_.spread(tau, as_row));
    HOSTIR_ASSIGN_OR_RETURN(row, e_.apply(OpKind::mul, {row, scale}));
    return m_.less_product(c, v, row);
  }

  // Column j from the diagonal on, with 1 on the diagonal.
  Expected<Known> reflector(int64_t j) {
    const Known one = e_.number(1, tensor_type(a_.type.element, single()));
    if (j + 1 == rows_) return e_.settled(one);
    HOSTIR_ASSIGN_OR_RETURN(Known tail, m_.block(a_, j + 1, rows_, j, j + 1));
    return m_.stacked({one, std::move(tail)});
  }

  // Makes the elements of column j below the diagonal zero, and keeps the reflector in their place.
  Expected<Known> reflect(int64_t j) {
    HOSTIR_ASSIGN_OR_RETURN(const Known alpha, m_.block(a_, j, j + 1, j, j + 1));
    const Known zero = e_.number(0, alpha.type);
    if (j + 1 == rows_) return e_.settled(zero);
    HOSTIR_ASSIGN_OR_RETURN(const Known tail, m_.block(a_, j + 1, rows_, j, j + 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known squares, e_.apply(OpKind::mul, {tail, tail}));
    HOSTIR_ASSIGN_OR_RETURN(Known below, e_.reduced(OpKind::reduce_sum, squares,
                                                    {static_cast<int64_t>(batch_.size())}));
    HOSTIR_ASSIGN_OR_RETURN(below, e_.reshaped(below, single()));
    HOSTIR_ASSIGN_OR_RETURN(const Known none, e_.compared(below, zero, "eq"));
    HOSTIR_ASSIGN_OR_RETURN(const Known square, e_.apply(OpKind::mul, {alpha, alpha}));
    HOSTIR_ASSIGN_OR_RETURN(const Known all, e_.apply(OpKind::add, {square, below}));
    HOSTIR_ASSIGN_OR_RETURN(const Known length, e_.apply(OpKind::sqrt, {all}));
    HOSTIR_ASSIGN_OR_RETURN(const Known opposite, e_.apply(OpKind::sub, {zero, length}));
    HOSTIR_ASSIGN_OR_RETURN(const Known positive, e_.compared(alpha, zero, "ge"));
    HOSTIR_ASSIGN_OR_RETURN(Known beta, chosen(positive, opposite, length));
    HOSTIR_ASSIGN_OR_RETURN(beta, chosen(none, alpha, beta));
    const Known one = e_.number(1, alpha.type);
    HOSTIR_ASSIGN_OR_RETURN(const Known gap, e_.apply(OpKind::sub, {beta, alpha}));
    HOSTIR_ASSIGN_OR_RETURN(const Known safe_beta, chosen(none, one, beta));
    HOSTIR_ASSIGN_OR_RETURN(const Known tau, e_.apply(OpKind::div, {gap, safe_beta}));
    HOSTIR_ASSIGN_OR_RETURN(const Known back, e_.apply(OpKind::sub, {alpha, beta}));
    HOSTIR_ASSIGN_OR_RETURN(const Known scale, chosen(none, one, back));
    HOSTIR_ASSIGN_OR_RETURN(const Known scaled, m_.over(tail, scale));
    std::vector<Known> parts(1);
    HOSTIR_ASSIGN_OR_RETURN(parts[0], m_.stacked({beta, scaled}));
    if (j + 1 < columns_) {
      HOSTIR_ASSIGN_OR_RETURN(const Known v, m_.stacked({one, scaled}));
      HOSTIR_ASSIGN_OR_RETURN(const Known rest, m_.block(a_, j, rows_, j + 1, columns_));
      HOSTIR_ASSIGN_OR_RETURN(Known turned, reflected(rest, v, tau));
      parts.push_back(std::move(turned));
    }
    HOSTIR_ASSIGN_OR_RETURN(a_, with_corner(a_, j, std::move(parts)));
    return tau;
  }

  Emitter& e_;
  Matrices m_;
  Known a_;
  Dims batch_;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
};

Expected<void> set_whole(const OpSite& s, const Known& result, size_t last_dims, size_t i) {
  HOSTIR_ASSIGN_OR_RETURN(Known whole, s.emitter.kept_whole(result, last_dims));
  return s.set(std::move(whole), i);
}

// (matrix) -> (factors, pivots, info per matrix)
Expected<void> emit_getrf(const OpSite& s) {
  if (s.op.results.size() != 3 || !can_decompose(s.in(0).type)) return not_factored(s);
  Factors factors(s);
  HOSTIR_TRY(factors.keep_whole());
  HOSTIR_ASSIGN_OR_RETURN(auto out, factors.lu());
  HOSTIR_TRY(set_whole(s, out.factors, 2, 0));
  HOSTIR_TRY(set_whole(s, out.pivots, 1, 1));
  return set_whole(s, out.failed, 0, 2);
}

// (matrix) -> (factors, tau)
Expected<void> emit_geqrf(const OpSite& s) {
  if (s.op.results.size() != 2 || !can_decompose(s.in(0).type)) return not_factored(s);
  Factors factors(s);
  HOSTIR_TRY(factors.keep_whole());
  HOSTIR_ASSIGN_OR_RETURN(const Known tau, factors.qr());
  HOSTIR_TRY(set_whole(s, factors.factors(), 2, 0));
  return set_whole(s, tau, 1, 1);
}

// (factors, tau) -> the first columns of Q
Expected<void> emit_orgqr(const OpSite& s) {
  const Dims& dims = s.in(0).type.dims;
  const Dims& taus = s.in(1).type.dims;
  const bool fits = s.op.results.size() == 1 && can_decompose(s.in(0).type) &&
                    taus.size() + 1 == dims.size() && taus.back() <= dims.back() &&
                    dims.back() <= dims[dims.size() - 2];
  if (!fits) return not_factored(s);
  Factors factors(s);
  HOSTIR_TRY(factors.keep_whole());
  HOSTIR_ASSIGN_OR_RETURN(const Known scales, s.emitter.kept_whole(s.in(1), 1));
  HOSTIR_ASSIGN_OR_RETURN(const Known q, factors.product(scales));
  return set_whole(s, q, 2, 0);
}

// Named by custom calls only.
constexpr HandlerRow kFactorRows[] = {
    {"hostir.getrf", emit_getrf},
    {"hostir.geqrf", emit_geqrf},
    {"hostir.orgqr", emit_orgqr, 2},
};

}  // namespace

std::span<const HandlerRow> factor_handlers() { return kFactorRows; }

}  // namespace hostir::importer
