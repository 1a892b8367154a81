// Linear algebra: cholesky, triangular_solve, and the LAPACK, cuSOLVER and cuBLAS calls that JAX
// writes for them on CPU and GPU; ragged_dot, the product of groups of rows with one matrix per
// group.
//
// A factorisation of n x n is written out column by column, about a dozen instructions each.
// Leading dimensions are a batch.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/formula.h"
#include "hostir/import/ops/matrices.h"

namespace hostir::importer {

namespace {

constexpr int64_t kMaxOrder = 512;  // 6144 instructions; JAX's own blocked versions stay below it

int64_t order_of(const Known& a) { return a.type.dims.back(); }

bool is_square(const ModuleType& type) {
  const size_t rank = type.dims.size();
  return type.is_tensor() && rank >= 2 && type.dims[rank - 1] == type.dims[rank - 2];
}

struct Factor {
  Known lower;
  Known failed;  // i32 per matrix: 0, or the number of the first pivot that is not positive
};

// Each step takes the square root of the first pivot, divides the column below by it and subtracts
// the column's product with itself from the rest. Only the lower triangle is read.
Expected<Factor> factored(Matrices& m, Known a) {
  Emitter& e = m.emitter();
  const int64_t n = order_of(a);
  const Dims batch(a.type.dims.begin(), a.type.dims.end() - 2);
  Known failed = e.integer(0, tensor_type("i32", batch));
  std::vector<Known> columns;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t left = n - j;
    HOSTIR_ASSIGN_OR_RETURN(const Known pivot, m.block(a, 0, 1, 0, 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known flat, e.reshaped(pivot, batch));
    HOSTIR_ASSIGN_OR_RETURN(const Known good, e.compared(flat, e.number(0, flat.type), "gt"));
    HOSTIR_ASSIGN_OR_RETURN(const Known fresh, e.compared(failed, e.integer(0, failed.type), "eq"));
    HOSTIR_ASSIGN_OR_RETURN(
        const Known now, e.apply(OpKind::select, {fresh, e.integer(j + 1, failed.type), failed}));
    HOSTIR_ASSIGN_OR_RETURN(failed, e.apply(OpKind::select, {good, failed, now}));
    HOSTIR_ASSIGN_OR_RETURN(const Known root, e.apply(OpKind::sqrt, {pivot}));
    HOSTIR_ASSIGN_OR_RETURN(Known column, m.block(a, 0, left, 0, 1));
    HOSTIR_ASSIGN_OR_RETURN(column, m.over(column, root));
    HOSTIR_ASSIGN_OR_RETURN(Known whole, m.below_zeros(column, n));
    columns.push_back(std::move(whole));
    if (left == 1) break;
    HOSTIR_ASSIGN_OR_RETURN(const Known under, m.rows(column, 1, left));
    HOSTIR_ASSIGN_OR_RETURN(const Known across, m.flipped(under));
    HOSTIR_ASSIGN_OR_RETURN(const Known rest, m.block(a, 1, left, 1, left));
    HOSTIR_ASSIGN_OR_RETURN(a, m.less_product(rest, under, across));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known lower, e.concatenated(std::move(columns), batch.size() + 1));
  return Factor{std::move(lower), std::move(failed)};
}

Expected<Factor> factored(const OpSite& s, bool lower) {
  Matrices m(s.emitter);
  HOSTIR_ASSIGN_OR_RETURN(Known a, s.emitter.kept_whole(s.in(0), 2));
  if (!lower) {
    HOSTIR_ASSIGN_OR_RETURN(a, m.flipped(a));
  }
  HOSTIR_ASSIGN_OR_RETURN(Factor out, factored(m, std::move(a)));
  if (!lower) {
    HOSTIR_ASSIGN_OR_RETURN(out.lower, m.flipped(out.lower));
  }
  HOSTIR_ASSIGN_OR_RETURN(out.lower, s.emitter.kept_whole(out.lower, 2));
  HOSTIR_ASSIGN_OR_RETURN(out.failed, s.emitter.kept_whole(out.failed, 0));
  return out;
}

bool is_float(const ModuleType& type) {
  return type.element == "f32" || type.element == "f64" || type.element == "bf16" ||
         type.element == "f16";
}

bool can_factor(const ModuleType& type) {
  return is_square(type) && type.dims.back() >= 1 && type.dims.back() <= kMaxOrder &&
         is_float(type);
}

// Names the library routine in messages about a custom call.
Expected<void> unfit(const OpSite& s) {
  const Attr* callee = s.op.find("callee");
  return s.emitter.opaque(s, (callee != nullptr ? "@" + callee->text + ", " : "") +
                                 "needs square matrices of floats with at most 512 rows");
}

// `lower = true`, as a bool or an integer.
bool flag(const OpSite& s, std::string_view name, bool otherwise) {
  const Attr* attr = s.op.find(name);
  return attr == nullptr ? otherwise : attr->integer != 0;
}

Expected<void> emit_cholesky(const OpSite& s) {
  if (!can_factor(s.in(0).type)) return unfit(s);
  HOSTIR_ASSIGN_OR_RETURN(Factor out, factored(s, flag(s, "lower", false)));
  return s.set(std::move(out.lower));
}

struct Triangle {
  bool left = true;  // a x = b; otherwise x a = b
  bool lower = true;
  bool transposed = false;
  bool unit = false;  // the diagonal counts as ones
};

// Solves a x = b: from the first row if `a` is a lower triangle, from the last otherwise. Each step
// divides one row and subtracts it, times the column of `a`, from those that remain.
Expected<Known> solved(Matrices& m, const Known& a, Known b, bool lower, bool unit) {
  const int64_t n = order_of(a);
  const size_t rank = b.type.dims.size();
  std::vector<Known> rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    const int64_t left = n - step;
    HOSTIR_ASSIGN_OR_RETURN(Known row, m.rows(b, lower ? 0 : left - 1, lower ? 1 : left));
    if (!unit) {
      HOSTIR_ASSIGN_OR_RETURN(const Known pivot, m.block(a, i, i + 1, i, i + 1));
      HOSTIR_ASSIGN_OR_RETURN(row, m.over(row, pivot));
    }
    rows.insert(lower ? rows.end() : rows.begin(), row);
    if (left == 1) break;
    HOSTIR_ASSIGN_OR_RETURN(const Known rest, m.rows(b, lower ? 1 : 0, lower ? left : left - 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known column,
                            m.block(a, lower ? i + 1 : 0, lower ? n : i, i, i + 1));
    HOSTIR_ASSIGN_OR_RETURN(b, m.less_product(rest, column, row));
  }
  return m.emitter().concatenated(std::move(rows), rank - 2);
}

Expected<void> solve(const OpSite& s, Triangle t) {
  const ModuleType& type = s.in(0).type;
  const Dims& right = s.in(1).type.dims;
  if (!can_factor(type)) return unfit(s);
  const size_t rank = type.dims.size();
  if (right.size() != rank || right[t.left ? rank - 2 : rank - 1] != type.dims.back() ||
      !std::equal(right.begin(), right.end() - 2, type.dims.begin())) {
    return s.fail("import_c2", fmt::format("solves {} for {}: the sizes do not match",
                                           type.to_string(), s.in(1).type.to_string()));
  }
  Matrices m(s.emitter);
  HOSTIR_ASSIGN_OR_RETURN(Known a, s.emitter.kept_whole(s.in(0), 2));
  Known b = s.in(1);
  // x a = b is the transpose of a' x' = b'.
  if (t.transposed == t.left) {
    HOSTIR_ASSIGN_OR_RETURN(a, m.flipped(a));
    t.lower = !t.lower;
  }
  if (!t.left) {
    HOSTIR_ASSIGN_OR_RETURN(b, m.flipped(b));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known x, solved(m, a, std::move(b), t.lower, t.unit));
  if (!t.left) {
    HOSTIR_ASSIGN_OR_RETURN(x, m.flipped(x));
  }
  return s.set(std::move(x));
}

Expected<void> emit_triangular_solve(const OpSite& s) {
  Triangle t;
  t.left = flag(s, "left_side", false);
  t.lower = flag(s, "lower", false);
  t.unit = flag(s, "unit_diagonal", false);
  const std::string_view how = s.op.word("transpose_a");
  t.transposed = how == "TRANSPOSE" || how == "ADJOINT";
  return solve(s, t);
}

// (matrix) -> (factor, info per matrix). LAPACK says uplo, cuSOLVER says lower.
Expected<void> emit_potrf(const OpSite& s) {
  const bool fits = s.op.results.size() == 2 && can_factor(s.in(0).type) &&
                    s.result_type() == s.in(0).type && s.result_type(1).element == "i32";
  if (!fits) return unfit(s);
  const bool lower =
      call_option(s, "uplo").value_or(call_option(s, "lower").value_or(1) != 0 ? 'L' : 'U') == 'L';
  HOSTIR_ASSIGN_OR_RETURN(Factor out, factored(s, lower));
  HOSTIR_TRY(s.set(std::move(out.lower)));
  return s.set(std::move(out.failed), 1);
}

Expected<void> emit_trsm(const OpSite& s) {
  const auto side = call_option(s, "side");
  const auto half = call_option(s, "uplo");
  const auto how = call_option(s, "trans_x");
  const auto diagonal = call_option(s, "diag");
  if (!side || !half || !how || !diagonal || s.op.results.size() != 1) return unfit(s);
  return solve(s, {*side == 'L', *half == 'L', *how != 'N', *diagonal == 'U'});
}

constexpr HandlerRow kAlgebraRows[] = {
    {"stablehlo.cholesky", emit_cholesky},
    {"stablehlo.triangular_solve", emit_triangular_solve, 2},
    {"hostir.potrf", emit_potrf},  // custom calls only, such as trsm
    {"hostir.trsm", emit_trsm, 2},
};

}  // namespace

std::span<const HandlerRow> algebra_handlers() { return kAlgebraRows; }

}  // namespace hostir::importer
