"""Where documents come from: files, folders, S3, web pages, AWS itself."""
