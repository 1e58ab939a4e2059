// A matrix product that is exact on every processor.
//
// It computes in floating point, which is exact here: a float holds every integer up to 2^24, so sums of
// up to 512 products of 8-bit operands, of at most 255 * 128 each, never round, in whatever order they are
// added and fused or not; a double does the same for 2^22 products of 16-bit operands. Floating point is
// used because every vector unit multiplies and adds it in one instruction, while 32-bit integer products
// take several.
//
// Blocks of both operands are converted once: A to rows, B to panels of 64 bytes a row. A tile of
// `tile_rows` rows as wide as a panel stays in registers while it walks the block's depth.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/arithmetic.h"
#include "hw/math/gemm_kernels.h"
#include "hw/math/target_clones.h"

namespace systole::math {
namespace {

constexpr std::size_t panel_bytes = 64;
constexpr std::size_t tile_rows = 6;  // fits into 16 AVX2 registers, two for each row

// Blocks: A's stays in the first-level cache, B's in the second.
constexpr std::size_t block_elements_of_a = std::size_t{24} * 256;
constexpr std::size_t block_depth = 256;
constexpr std::size_t block_panels = 8;

template <typename Real>
constexpr std::size_t lanes = panel_bytes / sizeof(Real);  // columns of a panel

// Largest sums inside a block, against the integers a Real holds exactly.
static_assert(block_depth * 255 * 255 <= std::size_t{1} << 24);
static_assert(block_depth * 65535 * 65535 <= std::size_t{1} << 53);

/// A block of the current product.
template <typename Real>
struct Block {
    const Real* a;  ///< rows of `depth` elements; `rows` rounded up to whole tiles
    const Real* b;  ///< panels of depth * lanes elements
    std::int32_t* c;
    std::size_t ldc;
    std::size_t rows;
    std::size_t columns;
    std::size_t depth;
    bool accumulate;
};

template <typename Element, typename Real>
SYSTOLE_ALWAYS_INLINE void convert(const std::uint8_t* in, std::size_t count, Real* out) {
    for (std::size_t i = 0; i < count; ++i) {
        Element element;
        std::memcpy(&element, in + i * sizeof(Element), sizeof(Element));
        out[i] = static_cast<Real>(element);
    }
}

/// Copies rows of `count` elements from `operand` to rows that are `out_stride` apart.
template <typename Real>
SYSTOLE_ALWAYS_INLINE void convert_rows(const GemmOperand& operand, std::size_t rows, std::size_t count,
                                        Real* out, std::size_t out_stride) {
    if (out_stride == count && operand.row_bytes == count * bytes_of(operand.type)) {
        count *= rows;  // packed on both sides: one long row, which is faster than short rows
        rows = 1;
    }
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* const in = operand.data + row * operand.row_bytes;
        Real* const to = out + row * out_stride;
        switch (operand.type) {
            case DataType::Uint8:
                convert<std::uint8_t>(in, count, to);
                break;
            case DataType::Int8:
                convert<std::int8_t>(in, count, to);
                break;
            case DataType::Uint16:
                convert<std::uint16_t>(in, count, to);
                break;
            case DataType::Int16:
                convert<std::int16_t>(in, count, to);
                break;
            case DataType::Int32:
            case DataType::Bfloat16:
            case DataType::Float32:
            case DataType::Uint32:
            case DataType::Float16:
            case DataType::Bool:
                throw std::logic_error("a matrix operand of a format that products do not take");
        }
    }
}

/// A tile's sums, computed with vectors of `VectorBytes` bytes; vectors wider than the processor's cost ten
/// times as much. Vector i of the tile is part i % parts of row i / parts. The indices are template arguments
/// because the compiler keeps an array in registers only if all its indices are constants.
template <std::size_t VectorBytes, typename Real, std::size_t... I>
SYSTOLE_ALWAYS_INLINE void multiply_tile(const Real* a, const Real* panel, std::size_t depth,
                                         std::uint32_t (&sums)[tile_rows][lanes<Real>],
                                         std::index_sequence<I...>) {
    using Integer = std::conditional_t<sizeof(Real) == sizeof(float), std::int32_t, std::int64_t>;
    constexpr std::size_t parts = panel_bytes / VectorBytes;
    constexpr std::size_t part_lanes = lanes<Real> / parts;
    using Vector [[gnu::vector_size(VectorBytes), gnu::aligned(sizeof(Real)), gnu::may_alias]] = Real;
    using Integers [[gnu::vector_size(VectorBytes)]] = Integer;
    using Sums [[gnu::vector_size(part_lanes * sizeof(std::uint32_t))]] = std::uint32_t;
    Vector tile[tile_rows * parts] = {};
    for (std::size_t i = 0; i < depth; ++i) {
        const auto* const weights = reinterpret_cast<const Vector*>(panel + i * lanes<Real>);
        ((tile[I] += a[I / parts * depth + i] * weights[I % parts]), ...);
    }
    // Sums inside a block do not overflow their type; 64-bit sums wrap around to 32 bits here.
    const Sums wrapped[] = {__builtin_convertvector(__builtin_convertvector(tile[I], Integers), Sums)...};
    std::memcpy(sums, wrapped, sizeof(sums));
}

/// Writes `Count` sums to elements of C, or adds them.
template <std::size_t Count>
SYSTOLE_ALWAYS_INLINE void add_span(const std::uint32_t* sums, std::int32_t* c, bool accumulate) {
    std::uint32_t after[Count];
    std::memcpy(after, sums, sizeof(after));
    if (accumulate) {
        for (std::size_t i = 0; i < Count; ++i) after[i] += static_cast<std::uint32_t>(c[i]);
    }
    std::memcpy(c, after, sizeof(after));
}

/// As `add_span` for a count below Limit, a power of two: one span for each bit of the count.
template <std::size_t Limit>
SYSTOLE_ALWAYS_INLINE void add_part(const std::uint32_t* sums, std::size_t count, std::int32_t* c,
                                    bool accumulate) {
    constexpr std::size_t half = Limit / 2;
    if constexpr (half > 0) {
        if (count >= half) {
            add_span<half>(sums, c, accumulate);
            sums += half;
            c += half;
            count -= half;
        }
        add_part<half>(sums, count, c, accumulate);
    }
}

template <std::size_t VectorBytes, typename Real>
SYSTOLE_ALWAYS_INLINE void multiply_block(const Block<Real>& block) {
    for (std::size_t column = 0; column < block.columns; column += lanes<Real>) {
        const Real* const panel = block.b + column * block.depth;
        const std::size_t columns = std::min(lanes<Real>, block.columns - column);
        for (std::size_t row = 0; row < block.rows; row += tile_rows) {
            alignas(panel_bytes) std::uint32_t sums[tile_rows][lanes<Real>];
            multiply_tile<VectorBytes>(block.a + row * block.depth, panel, block.depth, sums,
                                       std::make_index_sequence<tile_rows * panel_bytes / VectorBytes>{});
            const std::size_t rows = std::min(tile_rows, block.rows - row);
            for (std::size_t i = 0; i < rows; ++i) {
                std::int32_t* const c = block.c + (row + i) * block.ldc + column;
                if (columns == lanes<Real>) {
                    add_span<lanes<Real>>(sums[i], c, block.accumulate);
                } else {
                    add_part<lanes<Real>>(sums[i], columns, c, block.accumulate);
                }
            }
        }
    }
}

// The functions that exist in a version for each vector unit.

SYSTOLE_TARGET_CLONES void convert_rows_of(const GemmOperand& operand, std::size_t rows, std::size_t count,
                                           float* out, std::size_t out_stride) {
    convert_rows(operand, rows, count, out, out_stride);
}

SYSTOLE_TARGET_CLONES void convert_rows_of(const GemmOperand& operand, std::size_t rows, std::size_t count,
                                           double* out, std::size_t out_stride) {
    convert_rows(operand, rows, count, out, out_stride);
}

#ifdef SYSTOLE_HAS_TARGET_VERSIONS
SYSTOLE_TARGET_AVX512 void multiply_block_of(const Block<float>& block) {
    multiply_block<64>(block);
}
SYSTOLE_TARGET_AVX512 void multiply_block_of(const Block<double>& block) {
    multiply_block<64>(block);
}
SYSTOLE_TARGET_AVX2 void multiply_block_of(const Block<float>& block) {
    multiply_block<32>(block);
}
SYSTOLE_TARGET_AVX2 void multiply_block_of(const Block<double>& block) {
    multiply_block<32>(block);
}
#endif
SYSTOLE_TARGET_DEFAULT void multiply_block_of(const Block<float>& block) {
    multiply_block<16>(block);
}
SYSTOLE_TARGET_DEFAULT void multiply_block_of(const Block<double>& block) {
    multiply_block<16>(block);
}

template <typename Real>
void multiply(const GemmProblem& problem) {
    const std::size_t block_columns = block_panels * lanes<Real>;
    const std::size_t depth_limit = std::min(problem.k, block_depth);
    const std::size_t block_rows = block_elements_of_a / depth_limit / tile_rows * tile_rows;
    const auto a = std::make_unique_for_overwrite<Real[]>(
        round_up(std::min(problem.m, block_rows), tile_rows) * depth_limit);
    const auto b = std::make_unique_for_overwrite<Real[]>(
        round_up(std::min(problem.n, block_columns), lanes<Real>) * depth_limit);
    const std::size_t a_bytes = bytes_of(problem.a.type);
    const std::size_t b_bytes = bytes_of(problem.b.type);

    for (std::size_t k = 0; k < problem.k; k += block_depth) {
        const std::size_t depth = std::min(block_depth, problem.k - k);
        for (std::size_t n = 0; n < problem.n; n += block_columns) {
            const std::size_t columns = std::min(block_columns, problem.n - n);
            for (std::size_t column = 0; column < columns; column += lanes<Real>) {
                const GemmOperand from{problem.b.data + k * problem.b.row_bytes + (n + column) * b_bytes,
                                       problem.b.row_bytes, problem.b.type};
                Real* const panel = b.get() + column * depth;
                const std::size_t used = std::min(lanes<Real>, columns - column);
                if (used < lanes<Real>) std::fill_n(panel, depth * lanes<Real>, Real{0});
                convert_rows_of(from, depth, used, panel, lanes<Real>);
            }
            for (std::size_t m = 0; m < problem.m; m += block_rows) {
                const std::size_t rows = std::min(block_rows, problem.m - m);
                const GemmOperand from{problem.a.data + m * problem.a.row_bytes + k * a_bytes,
                                       problem.a.row_bytes, problem.a.type};
                convert_rows_of(from, rows, depth, a.get(), depth);
                std::fill(a.get() + rows * depth, a.get() + round_up(rows, tile_rows) * depth, Real{0});
                multiply_block_of(Block<Real>{a.get(), b.get(), problem.c + m * problem.ldc + n, problem.ldc,
                                              rows, columns, depth, problem.accumulate || k > 0});
            }
        }
    }
}

}  // namespace

void gemm_portable(const GemmProblem& problem) {
    if (bytes_of(problem.a.type) == 1 && bytes_of(problem.b.type) == 1) {
        multiply<float>(problem);
    } else {
        multiply<double>(problem);
    }
}

}  // namespace systole::math
