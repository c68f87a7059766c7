# cmake --install: the `heed` program, headers, static libraries and the CMake package "heed" with heed::heed.
include(CMakePackageConfigHelpers)

set(HEED_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
get_property(rooms GLOBAL PROPERTY HEED_ROOMS)
install(TARGETS heed_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS heed ${rooms} EXPORT heedTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The -inl.h headers belong to the kernels' own compilation.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/heed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE)
install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${HEED_PACKAGE_DIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
  INSTALL_DESTINATION ${HEED_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
  DESTINATION ${HEED_PACKAGE_DIR})
