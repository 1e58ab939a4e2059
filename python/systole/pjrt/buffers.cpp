// Arrays on the devices: row-major, without gaps, in this process.
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "objects.h"

namespace systole::pjrt {
namespace {

PJRT_Error* ready(PJRT_Event*& event) {
    event = new PJRT_Event;
    return nullptr;
}

PJRT_Error* deleted() {
    return error(PJRT_Error_Code_FAILED_PRECONDITION, "the array was deleted, or donated to a function");
}

PJRT_Error* unknown_type(PJRT_Buffer_Type type) {
    return error(PJRT_Error_Code_UNIMPLEMENTED,
                 "the device systole has no arrays of this number format (type " + std::to_string(type) +
                     " of PJRT): pred, integers of 8 to 64 bits, f16, bf16, f32 and f64 it has");
}

/// Whether a layout that JAX asks for is the one that arrays have here.
bool is_row_major(const PJRT_Buffer_MemoryLayout* layout, const ArrayType& array) {
    if (layout == nullptr) return true;
    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
        const PJRT_Buffer_MemoryLayout_Tiled& tiled = layout->tiled;
        if (tiled.num_tiles != 0 || tiled.minor_to_major_size != array.dims.size()) return false;
        for (std::size_t i = 0; i < array.dims.size(); ++i) {
            if (tiled.minor_to_major[i] != static_cast<std::int64_t>(array.dims.size() - 1 - i)) return false;
        }
        return true;
    }
    if (layout->strides.num_byte_strides != array.dims.size()) return false;
    auto stride = static_cast<std::int64_t>(array.element_bytes());
    for (std::size_t i = array.dims.size(); i-- > 0;) {
        if (layout->strides.byte_strides[i] != stride) return false;
        stride *= array.dims[i];
    }
    return true;
}

PJRT_Error* check_layout(const PJRT_Buffer_MemoryLayout* layout, const ArrayType& array) {
    if (is_row_major(layout, array)) return nullptr;
    return error(PJRT_Error_Code_UNIMPLEMENTED, "the device systole has row-major arrays alone");
}

/// Copies an array whose elements are `strides` bytes apart, dimension by dimension.
void copy_strided(const std::byte* from, const std::int64_t* strides, const ArrayType& array,
                  std::size_t dimension, std::byte*& to) {
    const std::size_t element = array.element_bytes();
    if (dimension == array.dims.size()) {
        std::memcpy(to, from, element);
        to += element;
        return;
    }
    for (std::int64_t i = 0; i < array.dims[dimension]; ++i) {
        copy_strided(from + i * strides[dimension], strides, array, dimension + 1, to);
    }
}

PJRT_Error* from_host(PJRT_Client_BufferFromHostBuffer_Args* args) {
    ArrayType array{.type = args->type, .dims = {args->dims, args->dims + args->num_dims}};
    if (array.element_bytes() == 0) return unknown_type(args->type);
    if (PJRT_Error* failed = check_layout(args->device_layout, array)) return failed;
    PJRT_Device* const device = args->memory != nullptr ? args->memory->device : args->device;
    auto buffer = std::make_unique<PJRT_Buffer>(std::move(array), device);
    const auto* const from = static_cast<const std::byte*>(args->data);
    std::byte* to = buffer->data->data();
    if (args->num_byte_strides != 0) {
        copy_strided(from, args->byte_strides, buffer->array, 0, to);
    } else if (!buffer->data->empty()) {
        std::memcpy(to, from, buffer->data->size());
    }
    args->buffer = buffer.release();
    return ready(args->done_with_host_buffer);
}

PJRT_Error* to_host(PJRT_Buffer_ToHostBuffer_Args* args) {
    if (args->src->data == nullptr) return deleted();
    if (PJRT_Error* failed = check_layout(args->host_layout, args->src->array)) return failed;
    const std::vector<std::byte>& data = *args->src->data;
    if (args->dst == nullptr) {
        args->dst_size = data.size();
        args->event = nullptr;
        return nullptr;
    }
    if (args->dst_size < data.size()) {
        return error(PJRT_Error_Code_INVALID_ARGUMENT, "the array has " + std::to_string(data.size()) +
                                                           " bytes, and there is room for " +
                                                           std::to_string(args->dst_size));
    }
    if (!data.empty()) std::memcpy(args->dst, data.data(), data.size());
    return ready(args->event);
}

PJRT_Error* raw_to_host(PJRT_Buffer_CopyRawToHost_Args* args) {
    if (args->buffer->data == nullptr) return deleted();
    const std::vector<std::byte>& data = *args->buffer->data;
    const auto size = static_cast<std::int64_t>(data.size());
    if (args->offset < 0 || args->transfer_size < 0 || args->offset > size - args->transfer_size) {
        return error(PJRT_Error_Code_OUT_OF_RANGE, "the array has " + std::to_string(size) + " bytes");
    }
    if (args->transfer_size != 0) {
        std::memcpy(args->dst, data.data() + args->offset, static_cast<std::size_t>(args->transfer_size));
    }
    return ready(args->event);
}

/// Arrays never change after they have their values, so that copies share them.
PJRT_Error* copy_to(const PJRT_Buffer& from, PJRT_Device* device, PJRT_Buffer*& to) {
    if (from.data == nullptr) return deleted();
    auto copied = std::make_unique<PJRT_Buffer>(from);
    copied->device = device;
    to = copied.release();
    return nullptr;
}

PJRT_Error* copy_to_device(PJRT_Buffer_CopyToDevice_Args* args) {
    return copy_to(*args->buffer, args->dst_device, args->dst_buffer);
}

PJRT_Error* copy_to_memory(PJRT_Buffer_CopyToMemory_Args* args) {
    return copy_to(*args->buffer, args->dst_memory->device, args->dst_buffer);
}

PJRT_Error* destroy(PJRT_Buffer_Destroy_Args* args) {
    delete args->buffer;
    return nullptr;
}

PJRT_Error* delete_values(PJRT_Buffer_Delete_Args* args) {
    args->buffer->data = nullptr;
    return nullptr;
}

PJRT_Error* is_deleted(PJRT_Buffer_IsDeleted_Args* args) {
    args->is_deleted = args->buffer->data == nullptr;
    return nullptr;
}

PJRT_Error* element_type(PJRT_Buffer_ElementType_Args* args) {
    args->type = args->buffer->array.type;
    return nullptr;
}

PJRT_Error* dimensions(PJRT_Buffer_Dimensions_Args* args) {
    args->dims = args->buffer->array.dims.data();
    args->num_dims = args->buffer->array.dims.size();
    return nullptr;
}

PJRT_Error* unpadded_dimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
    args->unpadded_dims = args->buffer->array.dims.data();
    args->num_dims = args->buffer->array.dims.size();
    return nullptr;
}

PJRT_Error* dynamic_dimensions(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
    args->dynamic_dim_indices = nullptr;
    args->num_dynamic_dims = 0;
    return nullptr;
}

PJRT_Error* memory_layout(PJRT_Buffer_GetMemoryLayout_Args* args) {
    args->layout = {};
    args->layout.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE;
    args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    args->layout.tiled = {};
    args->layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
    args->layout.tiled.minor_to_major = args->buffer->minor_to_major.data();
    args->layout.tiled.minor_to_major_size = args->buffer->minor_to_major.size();
    return nullptr;
}

PJRT_Error* size_on_device(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
    args->on_device_size_in_bytes = args->buffer->array.bytes();
    return nullptr;
}

PJRT_Error* device(PJRT_Buffer_Device_Args* args) {
    args->device = args->buffer->device;
    return nullptr;
}

PJRT_Error* memory(PJRT_Buffer_Memory_Args* args) {
    args->memory = &args->buffer->device->memory;
    return nullptr;
}

PJRT_Error* is_on_cpu(PJRT_Buffer_IsOnCpu_Args* args) {
    args->is_on_cpu = false;
    return nullptr;
}

PJRT_Error* ready_event(PJRT_Buffer_ReadyEvent_Args* args) {
    if (args->buffer->data == nullptr) return deleted();
    return ready(args->event);
}

}  // namespace

std::size_t ArrayType::element_bytes() const {
    switch (type) {
        case PJRT_Buffer_Type_PRED:
        case PJRT_Buffer_Type_S8:
        case PJRT_Buffer_Type_U8:
            return 1;
        case PJRT_Buffer_Type_S16:
        case PJRT_Buffer_Type_U16:
        case PJRT_Buffer_Type_F16:
        case PJRT_Buffer_Type_BF16:
            return 2;
        case PJRT_Buffer_Type_S32:
        case PJRT_Buffer_Type_U32:
        case PJRT_Buffer_Type_F32:
            return 4;
        case PJRT_Buffer_Type_S64:
        case PJRT_Buffer_Type_U64:
        case PJRT_Buffer_Type_F64:
            return 8;
        default:  // formats that other versions of the interface add
            return 0;
    }
}

std::size_t ArrayType::bytes() const {
    std::size_t count = element_bytes();
    for (const std::int64_t size : dims) count *= static_cast<std::size_t>(size);
    return count;
}

void add_buffers(PJRT_Api& api) {
    api.PJRT_Client_BufferFromHostBuffer = Guarded<from_host>::call;
    api.PJRT_Buffer_ToHostBuffer = to_host;
    api.PJRT_Buffer_CopyRawToHost = raw_to_host;
    api.PJRT_Buffer_CopyToDevice = Guarded<copy_to_device>::call;
    api.PJRT_Buffer_CopyToMemory = Guarded<copy_to_memory>::call;
    api.PJRT_Buffer_Destroy = destroy;
    api.PJRT_Buffer_Delete = delete_values;
    api.PJRT_Buffer_IsDeleted = is_deleted;
    api.PJRT_Buffer_ElementType = element_type;
    api.PJRT_Buffer_Dimensions = dimensions;
    api.PJRT_Buffer_UnpaddedDimensions = unpadded_dimensions;
    api.PJRT_Buffer_DynamicDimensionIndices = dynamic_dimensions;
    api.PJRT_Buffer_GetMemoryLayout = memory_layout;
    api.PJRT_Buffer_OnDeviceSizeInBytes = size_on_device;
    api.PJRT_Buffer_Device = device;
    api.PJRT_Buffer_Memory = memory;
    api.PJRT_Buffer_IsOnCpu = is_on_cpu;
    api.PJRT_Buffer_ReadyEvent = ready_event;
}

}  // namespace systole::pjrt

PJRT_Buffer::PJRT_Buffer(systole::pjrt::ArrayType type, PJRT_Device* on)
    : array(std::move(type)), device(on), data(std::make_shared<std::vector<std::byte>>(array.bytes())) {
    static std::atomic<std::uint64_t> last = 0;
    number = ++last;
    for (std::size_t i = array.dims.size(); i-- > 0;) minor_to_major.push_back(static_cast<std::int64_t>(i));
}
