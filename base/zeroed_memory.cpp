#include "base/zeroed_memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace systole {
namespace {

/// Less is faster from the heap, and clearing it costs little.
constexpr std::size_t least_mapped_bytes = std::size_t{1} << 20U;

}  // namespace

void* allocate_zeroed(std::size_t bytes, Backing backing) {
    if (bytes < least_mapped_bytes) {
        void* const memory = std::calloc(bytes, 1);
        if (memory == nullptr && bytes > 0) throw std::bad_alloc();
        return memory;
    }
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (backing == Backing::Unchecked ? MAP_NORESERVE : 0);
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // Each process of a simulation touches its memory anew: page by page, that took a third of its time.
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

void free_zeroed(void* memory, std::size_t bytes) noexcept {
    if (bytes < least_mapped_bytes) {
        std::free(memory);
    } else {
        ::munmap(memory, bytes);
    }
}

}  // namespace systole
