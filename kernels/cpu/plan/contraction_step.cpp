#include "kernels/cpu/plan/contraction_step.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "kernels/cpu/plan/contraction_cut.h"
#include "kernels/cpu/plan/onednn.h"
#include "kernels/cpu/plan/packed_weights.h"
#include "kernels/cpu/reference/reference_support.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tile/tile_step.h"

namespace hostir::cpu {
namespace {

/// An operand that is copied to dense memory of another dtype before the product.
struct Preparation {
  TileProgram copy;
  int64_t bytes = 0;
};

class ContractionStep final : public Step {
 public:
  ContractionStep(ContractionPlan plan, const TileOps& ops) : plan_(std::move(plan)), ops_(ops) {}

  void create() {
    if (plan_.epilogue.extents.size() == 1) add_unit_dimension();
    join_batch_with_rows(plan_);
    compute_dtype_ = plan_.a.dtype == DType::kBF16 && onednn::has_native_bf16()
                         ? DType::kBF16
                         : (plan_.a.dtype == DType::kF64 ? DType::kF64 : DType::kF32);
    prepare(plan_.a, plan_.m, plan_.k, prepare_a_);
    prepare(plan_.b, plan_.k, plan_.n, prepare_b_);
    cut_ = cut_contraction(plan_);
    plan_.epilogue.assign_slots();
    choose_target();
    if (compute_dtype_ == DType::kF64 || plan_.k == 0) return;
    for (const int64_t rows : sizes_of(cut_.rows)) {
      for (const int64_t columns : sizes_of(cut_.columns)) {
        plain_[{rows, columns}] =
            onednn::Matmul::create(spec(rows, columns), onednn::Weights::kPlain, nullptr);
      }
    }
  }

  void run(const RunContext& context) override {
    const int64_t pieces = cut_.batches * cut_.rows.pieces() * cut_.columns.pieces();
    if (pieces == 0) return;
    const std::byte* packed =
        packed_.find(context.values[b_value_].data, context.versions[b_value_]);
    const ScratchPool::Lease lease_a(context.scratch, prepare_a_.bytes);
    const ScratchPool::Lease lease_b(context.scratch, packed ? 0 : prepare_b_.bytes);
    const std::byte* a = source(plan_.a, a_value_, prepare_a_, context, lease_a.data());
    const std::byte* b =
        packed ? packed : source(plan_.b, b_value_, prepare_b_, context, lease_b.data());
    parallel_for(pieces,
                 [&](int64_t piece) { run_piece(piece, a, b, packed != nullptr, context); });
  }

  void prepack(uint32_t value, ConstMemory data) override {
    if (value != b_value_ || !plan_.batch.empty() || compute_dtype_ == DType::kF64) return;
    if (cut_.rows.pieces() == 0 || !create_packed()) return;
    int64_t bytes = 0;
    for (int64_t c = 0; c < cut_.columns.pieces(); ++c) bytes += packed_bytes_of(c);
    std::byte* packed = packed_.add(data, bytes);
    ScratchPool scratch;
    std::vector<Memory> values(static_cast<size_t>(b_value_) + 2);
    values[b_value_] = {const_cast<std::byte*>(data.data), data.bytes};
    const uint64_t versions = 0;
    const RunContext context{values, {&versions, 1}, scratch};
    const ScratchPool::Lease lease(scratch, prepare_b_.bytes);
    const std::byte* b = source(plan_.b, b_value_, prepare_b_, context, lease.data());
    parallel_for(cut_.columns.pieces(), [&](int64_t c) {
      const auto& product = packed_products_.at({cut_.rows.count(0), cut_.columns.count(c)});
      product->pack(b + cut_.columns.begin(c) * column_stride(plan_.b) * element_bytes(),
                    packed + packed_offset(c));
    });
  }

  int64_t packed_bytes() const override { return packed_.bytes(); }

  std::string description() const override {
    const char* engine = compute_dtype_ == DType::kF64 ? "loops" : "onednn";
    return plan_.description + " " + engine + " " + std::string(name(plan_.a.dtype)) + " " +
           std::to_string(plan_.m) + "x" + std::to_string(plan_.n) + "x" + std::to_string(plan_.k);
  }

 private:
  using Products = std::map<std::pair<int64_t, int64_t>, std::unique_ptr<onednn::Matmul>>;

  static std::vector<int64_t> sizes_of(const PieceCut& cut) {
    std::vector<int64_t> sizes;
    if (cut.pieces() == 0) return sizes;
    sizes.push_back(cut.count(0));
    if (cut.count(cut.pieces() - 1) != cut.size) sizes.push_back(cut.count(cut.pieces() - 1));
    return sizes;
  }
  static int64_t row_stride(const MatrixOperand& operand) {
    return operand.view.strides[operand.view.strides.size() - 2];
  }
  static int64_t column_stride(const MatrixOperand& operand) { return operand.view.strides.back(); }
  int64_t element_bytes() const { return size_bytes(compute_dtype_); }

  /// Treats a vector as a matrix of one row.
  void add_unit_dimension() {
    TileProgram& program = plan_.epilogue;
    program.extents.insert(program.extents.begin(), 1);
    for (TileLoad& load : program.loads) load.view.strides.insert(load.view.strides.begin(), 0);
    for (TileStore& store : program.stores) {
      store.view.strides.insert(store.view.strides.begin(), program.extents.back());
    }
  }

  /// Uses the operand in place, or plans a copy and makes the view describe the copy.
  void prepare(MatrixOperand& operand, int64_t rows, int64_t columns, Preparation& preparation) {
    uint32_t& value = &operand == &plan_.a ? a_value_ : b_value_;
    value = operand.view.value;
    const bool fits = normalise_matrix(operand.view, rows, columns) &&
                      (compute_dtype_ != DType::kF64 || column_stride(operand) == 1);
    if (fits && operand.dtype == compute_dtype_) return;
    Extents extents = plan_.batch;
    extents.push_back(rows);
    extents.push_back(columns);
    for (size_t d = 0; d < plan_.batch.size(); ++d) {
      if (operand.view.strides[d] == 0) extents[d] = 1;  // one copy serves the whole batch
    }
    StridedView dense{value + 1, 0, strides_of(extents)};
    preparation.copy.extents = extents;
    const int reg = preparation.copy.add_register(lane_of(operand.dtype));
    preparation.copy.loads.push_back({TileLoad::Kind::kMemory, reg, operand.dtype, operand.view});
    preparation.copy.stores.push_back({reg, compute_dtype_, dense});
    preparation.copy.assign_slots();
    preparation.bytes = element_bytes();
    for (const int64_t extent : extents) preparation.bytes *= extent;
    for (size_t d = 0; d < plan_.batch.size(); ++d) {
      if (extents[d] == 1) dense.strides[d] = 0;
    }
    operand.view = dense;
    normalise_matrix(operand.view, rows, columns);
  }

  /// Decides whether pieces can be written directly to the result. oneDNN 2.6 has its fastest loops
  /// (AMX) only for a dense result: elsewhere it packs both operands in every call.
  void choose_target() {
    const TileProgram& program = plan_.epilogue;
    is_copy_ = program.code.empty() && program.stores.size() == 1 && program.loads.size() == 1 &&
               program.stores[0].dtype == head_dtype();
    is_direct_ = is_copy_ && cut_.columns.pieces() <= 1;
  }
  /// The dtype in which the epilogue reads the product.
  DType head_dtype() const {
    for (const TileLoad& load : plan_.epilogue.loads) {
      if (load.kind == TileLoad::Kind::kMemory && load.view.value == plan_.result)
        return load.dtype;
    }
    return compute_dtype_ == DType::kF64 ? DType::kF64 : DType::kF32;
  }

  onednn::MatmulSpec spec(int64_t rows, int64_t columns) const {
    return {compute_dtype_,
            rows,
            columns,
            plan_.k,
            row_stride(plan_.a),
            column_stride(plan_.a),
            row_stride(plan_.b),
            column_stride(plan_.b),
            head_dtype() == DType::kBF16 ? DType::kBF16 : DType::kF32};
  }

  bool create_packed() {
    if (!packed_products_.empty()) return true;
    if (plan_.k == 0) return false;
    Products products;
    for (const int64_t columns : sizes_of(cut_.columns)) {
      const onednn::Matmul* like = nullptr;
      for (const int64_t rows : sizes_of(cut_.rows)) {
        auto product = onednn::Matmul::create(spec(rows, columns), onednn::Weights::kPacked, like);
        if (product == nullptr) return false;
        if (like == nullptr) like = product.get();
        products[{rows, columns}] = std::move(product);
      }
    }
    packed_products_ = std::move(products);
    return true;
  }
  int64_t packed_bytes_of(int64_t column_piece) const {
    const auto& product =
        packed_products_.at({cut_.rows.count(0), cut_.columns.count(column_piece)});
    return (product->packed_bytes() + 63) / 64 * 64;
  }
  int64_t packed_offset(int64_t column_piece) const {
    return column_piece == 0 ? 0 : column_piece * packed_bytes_of(0);
  }

  /// The start of the operand's first matrix; batches follow by the plan's view.
  const std::byte* source(const MatrixOperand& operand, uint32_t value,
                          const Preparation& preparation, const RunContext& context,
                          std::byte* dense) const {
    if (preparation.bytes == 0) {
      return context.values[value].data + operand.view.offset * size_bytes(operand.dtype);
    }
    std::vector<Memory> values(static_cast<size_t>(value) + 2);
    values[value] = context.values[value];
    values[value + 1] = {dense, preparation.bytes};
    run_tile_program(preparation.copy, ops_, values, context.scratch);
    return dense;
  }

  void run_piece(int64_t piece, const std::byte* a, const std::byte* b, bool is_packed,
                 const RunContext& context) const {
    // Columns outermost: concurrent pieces share rows of the right operand.
    const int64_t r = piece % cut_.rows.pieces();
    const int64_t c = piece / cut_.rows.pieces() % cut_.columns.pieces();
    int64_t batch = piece / (cut_.rows.pieces() * cut_.columns.pieces());
    Extents lo(plan_.batch.size(), 0);
    for (size_t d = plan_.batch.size(); d > 0; --d) {
      lo[d - 1] = batch % plan_.batch[d - 1];
      batch /= plan_.batch[d - 1];
    }
    Extents hi = lo;
    for (int64_t& h : hi) ++h;
    const int64_t rows = cut_.rows.count(r);
    const int64_t columns = cut_.columns.count(c);
    lo.insert(lo.end(), {cut_.rows.begin(r), cut_.columns.begin(c)});
    hi.insert(hi.end(), {lo[lo.size() - 2] + rows, lo.back() + columns});

    const std::byte* a_data = a + offset(plan_.a, lo, cut_.rows.begin(r), 0) * element_bytes();
    const std::byte* b_data =
        is_packed ? b + packed_offset(c)
                  : b + offset(plan_.b, lo, 0, cut_.columns.begin(c)) * element_bytes();
    const int64_t head_bytes = size_bytes(head_dtype());
    const int64_t tile_bytes = is_direct_ ? 0 : (rows * columns * head_bytes + 63) / 64 * 64;
    const onednn::Matmul* product = find_product(rows, columns, is_packed);
    const ScratchPool::Lease lease(context.scratch, tile_bytes + plan_.epilogue.scratch_bytes() +
                                                        (product ? product->scratch_bytes() : 0));
    std::byte* tile_scratch = lease.data() + tile_bytes;
    std::byte* product_scratch = tile_scratch + plan_.epilogue.scratch_bytes();
    std::byte* result = is_copy_ ? result_at(lo, context) : nullptr;
    std::byte* c_data = is_direct_ ? result : lease.data();
    multiply(product, a_data, b_data, c_data, rows, columns, product_scratch);
    if (is_direct_) return;
    if (is_copy_) {
      for (int64_t row = 0; row < rows; ++row) {
        std::memcpy(result + row * plan_.n * head_bytes, c_data + row * columns * head_bytes,
                    static_cast<size_t>(columns * head_bytes));
      }
      return;
    }
    HeadTile head{plan_.result, lease.data(), Extents(lo.size(), 0)};
    head.strides[lo.size() - 2] = columns;
    head.strides.back() = 1;
    TileRunner runner(plan_.epilogue, ops_, context.values, {}, tile_scratch, lo, hi, head,
                      StoreMode::kCached);
    runner.run(0, runner.elems());
  }

  /// Where an element of the result is stored, if the epilogue only copies.
  std::byte* result_at(const Extents& index, const RunContext& context) const {
    const StridedView& view = plan_.epilogue.stores[0].view;
    int64_t at = view.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d];
    return context.values[view.value].data + at * size_bytes(head_dtype());
  }

  static int64_t offset(const MatrixOperand& operand, const Extents& lo, int64_t row,
                        int64_t column) {
    int64_t at = row * row_stride(operand) + column * column_stride(operand);
    for (size_t d = 0; d + 2 < lo.size(); ++d) at += lo[d] * operand.view.strides[d];
    return at;
  }

  const onednn::Matmul* find_product(int64_t rows, int64_t columns, bool is_packed) const {
    if (compute_dtype_ == DType::kF64 || plan_.k == 0) return nullptr;
    return (is_packed ? packed_products_ : plain_).at({rows, columns}).get();
  }

  void multiply(const onednn::Matmul* product, const std::byte* a, const std::byte* b, std::byte* c,
                int64_t rows, int64_t columns, std::byte* scratch) const {
    if (product != nullptr) {
      product->run(a, b, c, scratch);
    } else if (plan_.k == 0) {
      std::memset(c, 0, static_cast<size_t>(rows * columns * size_bytes(head_dtype())));
    } else if (compute_dtype_ == DType::kF32) {
      multiply_plainly(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                       reinterpret_cast<float*>(c), rows, columns);
    } else {
      ops_.matmul_f64(reinterpret_cast<const double*>(a), row_stride(plan_.a),
                      reinterpret_cast<const double*>(b), row_stride(plan_.b),
                      reinterpret_cast<double*>(c), columns, rows, columns, plan_.k);
    }
  }

  /// For products that oneDNN does not support.
  void multiply_plainly(const float* a, const float* b, float* c, int64_t rows,
                        int64_t columns) const {
    for (int64_t i = 0; i < rows; ++i) {
      float* out = c + i * columns;
      std::fill_n(out, columns, 0.0f);
      for (int64_t p = 0; p < plan_.k; ++p) {
        const float x = a[i * row_stride(plan_.a) + p * column_stride(plan_.a)];
        const float* y = b + p * row_stride(plan_.b);
        for (int64_t j = 0; j < columns; ++j) out[j] += x * y[j * column_stride(plan_.b)];
      }
    }
  }

  ContractionPlan plan_;
  const TileOps& ops_;
  DType compute_dtype_ = DType::kF32;
  uint32_t a_value_ = 0;
  uint32_t b_value_ = 0;
  Preparation prepare_a_;
  Preparation prepare_b_;
  ContractionCut cut_;
  bool is_copy_ = false;    // the epilogue only stores the product
  bool is_direct_ = false;  // the product is computed in the result
  Products plain_;
  Products packed_products_;
  PackedWeights packed_;
};

}  // namespace

std::unique_ptr<Step> make_contraction_step(ContractionPlan plan, const TileOps& ops) {
  auto step = std::make_unique<ContractionStep>(std::move(plan), ops);
  step->create();
  return step;
}

}  // namespace hostir::cpu
