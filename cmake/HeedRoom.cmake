# Flags that every target of heed gets, and heed_room(): one static library for one folder of src/heed.

add_library(heed_flags INTERFACE)
# -ffp-contract=off: a multiply-add is fused only where the source says so. Otherwise an element would get other
# bits in the vector body of a loop than in its scalar tail, and so depend on its batch neighbours (law 1).
target_compile_options(heed_flags INTERFACE -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(heed_flags INTERFACE -Wno-sign-conversion -Wno-ignored-attributes)
  if(HEED_PCH)
    # What gcc 12 sees in std::string once its headers are precompiled is not there; clang and builds without keep watch.
    target_compile_options(heed_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                                -Wno-stringop-overread -Wno-maybe-uninitialized)
  endif()
else()
  target_compile_options(heed_flags INTERFACE -Wno-sign-conversion -Wno-implicit-int-float-conversion)
endif()
if(HEED_WERROR)
  target_compile_options(heed_flags INTERFACE -Werror)
endif()
if(HEED_SANITIZE)
  target_compile_options(heed_flags INTERFACE -fsanitize=${HEED_SANITIZE} -fno-sanitize-recover=all
                                              -fno-omit-frame-pointer)
  target_link_options(heed_flags INTERFACE -fsanitize=${HEED_SANITIZE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Precompiled headers that are the same are equal, for ccache.
  target_compile_options(heed_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(HEED_COVERAGE)
  target_compile_options(heed_flags INTERFACE --coverage)
  target_link_options(heed_flags INTERFACE --coverage)
endif()

# For what leaves the work to the library, the program and the tests: they compile in half the time.
set(HEED_LIGHT_FLAGS $<$<CONFIG:Release>:-O1>)
if(HEED_SANITIZE)
  set(HEED_LIGHT_FLAGS -O0)
endif()

# What most files spend their time on reading; precompiled for all rooms with HEED_PCH.
set(HEED_SHARED_HEADERS <algorithm> <filesystem> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <sstream>
                        <string> <vector>)

# heed_room(NAME SOURCES a.cpp b.cpp ... DEPENDS room external::target ...)
# Which rooms may appear in DEPENDS is the layer list of tools/layers.txt; tools/check_layers checks the includes.
function(heed_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(heed_${name} STATIC ${ROOM_SOURCES})
  add_library(heed::${name} ALIAS heed_${name})
  set_target_properties(heed_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(heed_${name} PUBLIC cxx_std_20)
  target_include_directories(heed_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                 $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(heed_${name} PRIVATE $<BUILD_INTERFACE:heed_flags> PUBLIC ${ROOM_DEPENDS})
  if(HEED_PCH AND name STREQUAL "base")
    target_precompile_headers(heed_base PRIVATE ${HEED_SHARED_HEADERS})
  elseif(HEED_PCH)
    target_precompile_headers(heed_${name} REUSE_FROM heed_base)
  endif()
  set_property(GLOBAL APPEND PROPERTY HEED_ROOMS heed_${name})
endfunction()
