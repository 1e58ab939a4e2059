// The table of functions that JAX loads, and what this device refuses.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "bridge.h"
#include "objects.h"

// The functions below are those of this version, all of them.
static_assert(PJRT_API_MAJOR == 0 && PJRT_API_MINOR == 90);

namespace systole::pjrt {
namespace {

std::optional<SystoleCallbacks> connected;

/// A name as an argument of a template.
template <std::size_t size>
struct Name {
    std::array<char, size> text{};
    consteval Name(const char (&literal)[size]) { std::copy_n(literal, size, text.begin()); }  // NOLINT
};

/// A function of the interface that this device does not have.
template <Name name, class Args>
PJRT_Error* refuse(Args* /*args*/) {
    return error(PJRT_Error_Code_UNIMPLEMENTED,
                 "the device systole does not have " + std::string(name.text.data()) + " of PJRT");
}

PJRT_Error* initialize(PJRT_Plugin_Initialize_Args* /*args*/) {
    return nullptr;
}

/// None: JAX then writes programs in a form that versions before its own read, too.
PJRT_Error* attributes(PJRT_Plugin_Attributes_Args* args) {
    args->attributes = nullptr;
    args->num_attributes = 0;
    return nullptr;
}

#define SYSTOLE_REFUSE(function) api.function = refuse<#function, function##_Args>

/// JAX passes such an error on to its user. Where JAX aborts the process at an error instead, the function is
/// one of those that the other parts add.
void add_refusals(PJRT_Api& api) {
    SYSTOLE_REFUSE(PJRT_Device_MemoryStats);
    SYSTOLE_REFUSE(PJRT_Executable_GetCostAnalysis);
    SYSTOLE_REFUSE(PJRT_Executable_Serialize);
    SYSTOLE_REFUSE(PJRT_Executable_DeserializeAndLoad);
    SYSTOLE_REFUSE(PJRT_LoadedExecutable_Fingerprint);
    SYSTOLE_REFUSE(PJRT_Buffer_UnsafePointer);
    SYSTOLE_REFUSE(PJRT_Buffer_IncreaseExternalReferenceCount);
    SYSTOLE_REFUSE(PJRT_Buffer_DecreaseExternalReferenceCount);
    SYSTOLE_REFUSE(PJRT_Buffer_OpaqueDeviceMemoryDataPointer);
    SYSTOLE_REFUSE(PJRT_CopyToDeviceStream_Destroy);
    SYSTOLE_REFUSE(PJRT_CopyToDeviceStream_AddChunk);
    SYSTOLE_REFUSE(PJRT_CopyToDeviceStream_TotalBytes);
    SYSTOLE_REFUSE(PJRT_CopyToDeviceStream_GranuleSize);
    SYSTOLE_REFUSE(PJRT_CopyToDeviceStream_CurrentBytes);
    SYSTOLE_REFUSE(PJRT_TopologyDescription_Create);
    SYSTOLE_REFUSE(PJRT_TopologyDescription_Serialize);
    SYSTOLE_REFUSE(PJRT_Compile);
    SYSTOLE_REFUSE(PJRT_Client_CreateViewOfDeviceBuffer);
    SYSTOLE_REFUSE(PJRT_Executable_Fingerprint);
    SYSTOLE_REFUSE(PJRT_Executable_GetCompiledMemoryStats);
    SYSTOLE_REFUSE(PJRT_ExecuteContext_Create);
    SYSTOLE_REFUSE(PJRT_ExecuteContext_Destroy);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_Destroy);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_TransferData);
    SYSTOLE_REFUSE(PJRT_Client_CreateBuffersForAsyncHostToDevice);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_Device);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_BufferCount);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_BufferSize);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_SetBufferError);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_AddMetadata);
    SYSTOLE_REFUSE(PJRT_Client_DmaMap);
    SYSTOLE_REFUSE(PJRT_Client_DmaUnmap);
    SYSTOLE_REFUSE(PJRT_Client_CreateUninitializedBuffer);
    SYSTOLE_REFUSE(PJRT_Client_UpdateGlobalProcessInfo);
    SYSTOLE_REFUSE(PJRT_TopologyDescription_Deserialize);
    SYSTOLE_REFUSE(PJRT_Client_CreateAliasBuffer);
    SYSTOLE_REFUSE(PJRT_Client_FulfillAliasBuffer);
    SYSTOLE_REFUSE(PJRT_Client_CreateErrorBuffer);
    SYSTOLE_REFUSE(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral);
    SYSTOLE_REFUSE(PJRT_Buffer_CopyRawToHostFuture);
    SYSTOLE_REFUSE(PJRT_Device_PoisonExecution);
    SYSTOLE_REFUSE(PJRT_Device_CreateAsyncTrackingEvent);
    SYSTOLE_REFUSE(PJRT_AsyncTrackingEvent_Destroy);
    SYSTOLE_REFUSE(PJRT_Buffer_DonateWithControlDependency);
    SYSTOLE_REFUSE(PJRT_Event_Create);
    SYSTOLE_REFUSE(PJRT_Event_Set);
}

#undef SYSTOLE_REFUSE

PJRT_Api make_api() {
    PJRT_Api api{};
    api.struct_size = PJRT_Api_STRUCT_SIZE;
    api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
    api.pjrt_api_version.major_version = PJRT_API_MAJOR;
    api.pjrt_api_version.minor_version = PJRT_API_MINOR;
    api.PJRT_Plugin_Initialize = initialize;
    api.PJRT_Plugin_Attributes = attributes;
    add_errors_and_events(api);
    add_client(api);
    add_buffers(api);
    add_executables(api);
    add_refusals(api);
    return api;
}

}  // namespace

const SystoleCallbacks* callbacks() {
    return connected ? &*connected : nullptr;
}

}  // namespace systole::pjrt

extern "C" {

void systole_connect(const SystoleCallbacks* callbacks) {
    if (callbacks == nullptr) {
        systole::pjrt::connected.reset();
    } else {
        systole::pjrt::connected = *callbacks;
    }
}

/// What JAX looks for in the library.
const PJRT_Api* GetPjrtApi() {
    static const PJRT_Api api = systole::pjrt::make_api();
    return &api;
}
}
