# cmake --install: the `heed` program with its manual page and completions, public headers, static libraries, the CMake package "heed" with heed::heed (and a
# target per room), and heed.pc for pkg-config.
include(CMakePackageConfigHelpers)

set(HEED_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
get_property(rooms GLOBAL PROPERTY HEED_ROOMS)
install(TARGETS heed_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(written ${PROJECT_BINARY_DIR}/apps/cli)
install(FILES ${written}/heed.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${written}/heed.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heed)
install(FILES ${written}/_heed DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${written}/heed.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(TARGETS heed ${rooms} EXPORT heedTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# What users may include; all else may change at any time. tests/examples/installed_package_test.sh compiles them together,
# for tools/check_all each alone.
set(HEED_PUBLIC_HEADERS
  heed.h
  attention/attend.h attention/cache.h attention/custom.h attention/mask.h attention/pointer.h
  attention/position_criteria.h attention/positions.h attention/reference.h attention/registry.h
  attention/relative_terms.h attention/rope_scaling.h attention/rotary.h attention/scores.h attention/term_base.h attention/terms.h
  base/error.h base/file.h base/memory.h base/parallel.h base/random.h base/stop.h base/types.h
  engine/load.h
  io/safetensors.h
  kernels/score_rule.h
  nn/attention.h nn/attention_record.h nn/block.h nn/context.h nn/feed_forward.h nn/initializer.h
  nn/layers.h nn/module.h nn/non_local.h nn/recurrent.h nn/segment_memory.h nn/stack.h nn/tap.h
  ops/activation.h ops/dropout.h ops/elementwise.h ops/gather.h ops/linear.h ops/loss.h ops/matmul.h ops/normalize.h
  ops/recurrent.h ops/reduce.h ops/shape_ops.h ops/weight.h
  tasks/answer.h tasks/classify.h tasks/embed.h tasks/entities.h tasks/fill_mask.h
  tasks/generate.h tasks/lm.h tasks/loaded_model.h tasks/rerank.h
  tasks/similarity.h tasks/summarize.h tasks/tag.h tasks/translate.h tasks/zero_shot.h
  tensor/autograd.h tensor/dtype.h tensor/packed.h tensor/shape.h tensor/storage.h tensor/tensor.h tensor/tensor_map.h
  train/optimizer.h train/schedule.h train/train.h)
foreach(header ${HEED_PUBLIC_HEADERS})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/heed/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/${folder})
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/heed/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed)

install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${HEED_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
  INSTALL_DESTINATION ${HEED_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
  DESTINATION ${HEED_PACKAGE_DIR})

# pkg-config: rooms from the top down, as a linker wants them.
set(HEED_PC_LIBS "")
foreach(room ${rooms})
  string(PREPEND HEED_PC_LIBS "-l${room} ")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/heed.pc.in ${PROJECT_BINARY_DIR}/heed.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
